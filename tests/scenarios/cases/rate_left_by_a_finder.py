"""The LR finder put the weights back but left its last rate and Adam's moments in the optimizer.

run: setup build train finder train
ask: train
probe: curve
changed: yes
root: changed `opt`
expect: input opt 4
innocent: input model
"""
# %% setup
import copy
import torch
from torch import nn
torch.manual_seed(11)
X = torch.randn(40, 3)
y = (X ** 2).sum(1, keepdim=True)
# %% build
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
init_model = copy.deepcopy(model.state_dict())
# %% train
model.load_state_dict(init_model)
curve = []
for epoch in range(3):
    loss = nn.functional.mse_loss(model(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    curve.append(loss.item())
# %% finder
saved = copy.deepcopy(model.state_dict())
lr, found = 1e-4, []
while lr < 1.0:
    for group in opt.param_groups:
        group["lr"] = lr
    loss = nn.functional.mse_loss(model(X), y)
    opt.zero_grad(); loss.backward(); opt.step()
    found.append((lr, loss.item()))
    lr *= 3
model.load_state_dict(saved)
print(min(found, key=lambda pair: pair[1]))
