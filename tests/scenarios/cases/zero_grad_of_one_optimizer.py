"""Only the head's optimizer clears gradients, while a body with old ones is stepped as well.

run: setup reset train reset train
ask: train
probe: w
changed: yes
expect: input model 3
allow: input opt_head
allow: input opt_body
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
X, y = torch.randn(16, 4), torch.randn(16, 1)
model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
start = {k: v.clone() for k, v in model.state_dict().items()}
opt_body = torch.optim.SGD(model[0].parameters(), 0.1)
opt_head = torch.optim.SGD(model[1].parameters(), 0.1)
# %% reset
_ = model.load_state_dict(start)
# %% train
opt_head.zero_grad()
nn.functional.mse_loss(model(X), y).backward()
opt_head.step(); opt_body.step()
w = model[0].weight.tolist()
