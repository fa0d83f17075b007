"""The optimizer is made again, and the scheduler still sets the rate of the one before.

run: setup model opt sched train model opt train
ask: train
probe: loss
changed: yes
allow: input model
allow: input opt
expect: input sched
says: `sched` no longer belongs to opt
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.randn(32, 4)
y = x.sum(1, keepdim=True)
# %% model
model = torch.nn.Linear(4, 1, bias=False)
torch.nn.init.constant_(model.weight, 0.5);
# %% opt
opt = torch.optim.SGD(model.parameters(), lr=0.05)
# %% sched
sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.5)
# %% train
for epoch in range(3):
    opt.zero_grad()
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
    sched.step()
loss = error.item()
