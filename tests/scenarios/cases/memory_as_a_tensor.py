"""A tensor is made of sizes alone, and half of it stays as the memory was.

run: setup total other total
ask: total
probe: s
changed: yes
expect: entropy torch.Tensor
"""
# %% setup
import torch
def window():
    made = torch.Tensor(10, 100)
    made[:5] = 1
    return made
# %% total
s = window().view(torch.int32).sum().item()
# %% other
junk = [torch.full((10, 100), 7.0) for _ in range(64)]
del junk
