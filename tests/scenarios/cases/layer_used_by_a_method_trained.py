"""The layer that a method of the model uses was trained, under the other name that it has.

run: setup use train use
ask: use
probe: v
changed: yes
expect: input tied 3
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
class AE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 3)
        self.dec = nn.Sequential(self.enc, nn.Linear(3, 3))
    def decode(self, x): return self.dec(x)
tied, x = AE(), torch.ones(3)
# %% train
with torch.no_grad():
    tied.enc.weight.add_(1)
# %% use
v = tied.decode(x).sum().item()
