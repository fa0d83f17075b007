"""The cell reads a column of a tensor; two other cells changed it, the first that column.

run: setup use change other use
ask: use
probe: out
changed: yes
expect: input T 3
"""
# %% setup
import torch
T = torch.zeros(6, 2)
# %% use
out = T[:, 0].sum().item()
# %% change
T[2, 0] = 1
# %% other
T[2, 1] = 1
