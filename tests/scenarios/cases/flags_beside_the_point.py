"""Flags were switched that do not act on this cell, and it repeats.

run: setup add switch add
ask: add
probe: total
changed: no
"""
# %% setup
import torch
x = torch.arange(10)
# %% add
total = (x * 2).sum().item()
# %% switch
torch.backends.cudnn.benchmark = True
torch.use_deterministic_algorithms(True)
torch.set_num_threads(1)
