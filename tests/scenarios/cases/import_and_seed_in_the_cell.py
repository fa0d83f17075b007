"""The cell imports and seeds torch itself; the number of its draws was changed.

run: setup draw edit draw
ask: draw
probe: out
changed: yes
expect: input n 3
innocent: rng torch.cpu
kernel: cold
"""
# %% setup
n = 3
# %% draw
import torch
torch.manual_seed(0)
out = torch.rand(n).tolist()
# %% edit
n = 5
