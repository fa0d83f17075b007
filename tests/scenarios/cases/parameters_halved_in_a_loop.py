"""A loop sets each parameter from what it was.

run: setup shrink shrink
ask: shrink
probe: model.weight.tolist()
changed: yes
expect: input model 2
"""
# %% setup
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
# %% shrink
with torch.no_grad():
    for p in model.parameters():
        p.copy_(p * 0.5)
print(model.weight)
