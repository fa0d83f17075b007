"""Model, learning rate and scheduler all go on when the training cell is run again.

run: setup train train
ask: train
probe: loss
changed: yes
expect: input model 2
expect: input opt 2
allow: input sched
"""
# %% setup
import torch
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.5)
# %% train
error = torch.nn.functional.mse_loss(model(x), y)
opt.zero_grad()
error.backward()
opt.step()
sched.step()
loss = error.item()
