"""Autocast was left switched on: products come in another precision.

run: setup multiply enter multiply
ask: multiply
probe: out
changed: yes
expect: flag autocast 3
"""
# %% setup
import torch
torch.manual_seed(0)
a, b = torch.randn(8, 8), torch.randn(8, 8)
# %% multiply
out = (a @ b).sum().item()
# %% enter
context = torch.autocast("cpu")
context.__enter__();
