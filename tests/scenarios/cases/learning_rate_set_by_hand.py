"""The learning rate was set in the groups of an optimizer.

run: setup q other q
ask: q
probe: loss
changed: yes
expect: input opt 3
allow: input model
allow: input opt
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4,1)
start = {k: v.clone() for k, v in model.state_dict().items()}
opt = torch.optim.SGD(model.parameters(), lr=0.1)
X, y = torch.randn(32,4), torch.randn(32,1)
# %% q
model.load_state_dict(start)
for _ in range(5):
    opt.zero_grad()
    loss_t = ((model(X)-y)**2).mean()
    loss_t.backward()
    opt.step()
loss = loss_t.item()
# %% other
for group in opt.param_groups:
    group["lr"] = 0.01
