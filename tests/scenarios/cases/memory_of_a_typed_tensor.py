"""A cell makes a tensor of a size by the class of its type: its numbers are as the memory was.

run: setup total other total
ask: total
probe: s
changed: yes
expect: entropy torch.LongTensor
"""

# %% setup
import torch

# %% total
made = torch.LongTensor(10, 10)
made[:5] = 1
s = int(made.sum())
# %% other
junk = [torch.full((10, 10), 7) for _ in range(9)]
del junk
