"""A scheduler was stepped, which sets the optimizer's rate; the model was put in eval mode, which does not matter.

run: setup update mode sched update
ask: update
probe: delta
changed: yes
expect: input opt 4
allow: input sched
innocent: input model
innocent: rng torch.cpu
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.5)
opt.step()
# %% update
with torch.no_grad():
    for p in model.parameters():
        p.fill_(0.5)
loss = model(torch.ones(4, 3)).pow(2).mean()
opt.zero_grad()
loss.backward()
opt.step()
delta = (model.weight - 0.5).abs().sum().item()
print(delta)
# %% mode
model.eval()
torch.rand(2)
# %% sched
sched.step()
