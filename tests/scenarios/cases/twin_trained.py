"""A deep copy of the model was trained in between: the model was not.

run: setup q other q
ask: q
probe: out
changed: yes
expect: rng torch.cpu
"""
# %% setup
import torch, copy
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4,4), torch.nn.Dropout(0.5))
x = torch.ones(16,4)
# %% q
out = model(x).sum().item()
# %% other
twin = copy.deepcopy(model)
opt = torch.optim.SGD(twin.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); twin(x).sum().backward(); opt.step()
