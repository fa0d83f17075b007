"""A batch of another size and other rows: results differ by more, and nothing is said of rounding.

run: setup whole ask rows ask
ask: ask
probe: mean
changed: yes
expect: input x 4
says: made `x` again: shape 256 x 64 → 200 x 64
"""
# %% setup
import torch
torch.manual_seed(0)
rows = torch.randn(256, 64)
# %% whole
x = rows
# %% rows
x = rows[:200]
# %% ask
mean = x.mean(0)
