"""Another cell stepped the scheduler; the model was made again, as it was.

run: setup model train schedule restore train
ask: train
probe: loss
changed: yes
expect: input opt 4
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.randn(32, 4)
y = x.sum(1, keepdim=True)
# %% model
model = torch.nn.Linear(4, 1, bias=False)
torch.nn.init.constant_(model.weight, 0.5)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.5)
# %% train
for epoch in range(3):
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
    opt.zero_grad()
loss = error.item()
# %% schedule
sched.step()
# %% restore
_ = torch.nn.init.constant_(model.weight, 0.5)
