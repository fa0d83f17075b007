"""The data, a flag and the source are all other than before.

run: setup fit change fit
ask: fit
probe: out
changed: yes
expect: input x 3
expect: flag torch.default_dtype 3
expect: rng torch.cpu 2
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.ones(4)
# %% fit
out = (x + torch.rand(4)).tolist()
# %% change
x *= 2
torch.set_default_dtype(torch.float64)
