"""The cell adds to gradients that no one cleared.

run: setup measure measure
ask: measure
probe: norm
changed: yes
expect: input model 2
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.randn(8, 3)
model = torch.nn.Linear(3, 1)
# %% measure
model(x).pow(2).mean().backward()
norm = model.weight.grad.norm().item()
