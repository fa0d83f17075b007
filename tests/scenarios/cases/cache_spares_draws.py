"""A cached function draws in the first run only, so what follows the same seed differs.

run: setup build build
ask: build
probe: first
changed: yes
expect: input positional or code positional 2
innocent: rng numpy
"""
# %% setup
import functools, torch
from torch import nn
@functools.lru_cache(maxsize=None)
def positional(length, dim):
    return torch.randn(length, dim) * 0.02
# %% build
torch.manual_seed(0)
pos = positional(16, 8)
layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, dropout=0.0, batch_first=True)
first = layer(pos[None]).sum().item() + layer.linear1.weight.sum().item()
print(first)
