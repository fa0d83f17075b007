"""Another cell left gradients behind; the cell predicts, and does not use them.

run: setup pred back data pred
ask: pred
probe: p
changed: yes
expect: input x 4
innocent: input model
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
x = torch.ones(3, 4)
# %% pred
with torch.no_grad():
    p = model(x).tolist()
# %% back
model(x).sum().backward()
# %% data
x = x * 2
