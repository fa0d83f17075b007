"""Only the head's gradients are cleared by module.zero_grad, while all are stepped.

run: setup reset train reset train
ask: train
probe: w
changed: yes
expect: input model 3
allow: input opt
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
X, y = torch.randn(16, 4), torch.randn(16, 1)
model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
start = {k: v.clone() for k, v in model.state_dict().items()}
opt = torch.optim.SGD(model.parameters(), 0.1)
# %% reset
_ = model.load_state_dict(start)
# %% train
model[1].zero_grad()
nn.functional.mse_loss(model(X), y).backward()
opt.step()
w = model[0].weight.tolist()
