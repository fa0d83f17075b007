"""The scheduler was stepped in another cell; the next epoch uses a lower rate.

run: setup epoch decay epoch
ask: epoch
probe: delta
changed: yes
says: In[3] changed it: lr 1 → 0.1
expect: input opt 3
allow: input sched
"""
# %% setup
import torch
p = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([p], lr=1.0)
sched = torch.optim.lr_scheduler.StepLR(opt, 1, gamma=0.1)
# %% epoch
with torch.no_grad():
    p.fill_(1.0)
opt.zero_grad()
(p * 2).sum().backward()
opt.step()
delta = (1 - p).sum().item()
# %% decay
sched.step()
