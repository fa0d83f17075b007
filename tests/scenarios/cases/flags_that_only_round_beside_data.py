"""Flags that only round otherwise were switched, and so was a number that the cell reads.

run: setup scale switch change scale
ask: scale
probe: length
changed: yes
expect: input factor 4
innocent: flag torch.default_dtype
innocent: flag torch.use_deterministic_algorithms
innocent: flag torch.float32_matmul_precision
"""
# %% setup
import torch
x = torch.arange(6, dtype=torch.float32)
weight = torch.ones(6, 6)
factor = 2.0
# %% scale
length = (x @ weight * factor).norm().item()
# %% switch
torch.set_default_dtype(torch.float64)
torch.use_deterministic_algorithms(True)
torch.set_float32_matmul_precision("high")
# %% change
factor = 3.0
