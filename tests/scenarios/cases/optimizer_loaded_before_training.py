"""The cell loads the first states of model and optimizer before it trains.

run: setup q q
ask: q
probe: loss
changed: yes
expect: rng torch.cpu 2
innocent: input model
innocent: input opt
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
start = {k: v.clone() for k, v in model.state_dict().items()}
X, y = torch.randn(32, 4), torch.randn(32, 1)
opt = torch.optim.Adam(model.parameters())
import copy
opt0 = copy.deepcopy(opt.state_dict())
# %% q
model.load_state_dict(start)
opt.load_state_dict(copy.deepcopy(opt0))
for _ in range(3):
    opt.zero_grad(); out = ((model(X)-y)**2).mean(); out.backward(); opt.step()
loss = out.item()
