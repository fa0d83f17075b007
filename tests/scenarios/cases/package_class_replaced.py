"""nn.Linear itself is replaced by a class of the notebook.

run: setup make patch make
ask: make
probe: n
changed: yes
expect: input torch.nn.Linear 3
"""
# %% setup
import torch
from torch import nn
# %% make
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(4, 2), nn.Linear(2, 1))
n = round(m(torch.ones(1, 4)).item(), 6)
# %% patch
class NoBias(torch.nn.Linear):
    def __init__(self, i, o, bias=False):
        super().__init__(i, o, bias=False)
torch.nn.Linear = NoBias
