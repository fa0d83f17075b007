"""Tensors are made of sizes alone, and half of each stays as the memory was.

run: setup total other total
ask: total
probe: s
changed: yes
expect: entropy torch.Tensor
"""
# %% setup
import torch
def window():
    made = [torch.Tensor(10, 100) for _ in range(50)]
    for each in made:
        each[:5] = 1
    return torch.stack(made)
# %% total
s = window().view(torch.int32).sum().item()
# %% other
junk = [torch.full((10, 100), 7.0) for _ in range(64)]
del junk
