"""The cell reads the shape of a tensor alone, whose numbers changed.

run: setup f other f
ask: f
probe: s
changed: yes
expect: input h 3
innocent: input X
"""
# %% setup
import torch
X = torch.ones(5, 3)
h = 4
# %% f
s = X.shape[1] * h
# %% other
X.mul_(3)
h = 8
