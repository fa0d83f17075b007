"""Deterministic algorithms were switched on, and an operation has none.

run: setup put strict put
ask: put
probe: failed
changed: yes
expect: flag torch.use_deterministic_algorithms 3
"""
# %% setup
import torch
# %% put
x = torch.zeros(4)
try:
    x.put_(torch.tensor([1, 2]), torch.ones(2))
    failed = False
except RuntimeError:
    failed = True
# %% strict
torch.use_deterministic_algorithms(True)
