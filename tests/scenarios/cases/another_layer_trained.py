"""The cell uses some of a model's layers; another one was trained.

run: setup use train use
ask: use
probe: v
changed: yes
expect: input x 3
innocent: input ae
innocent: input parts
innocent: input plain
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
class AE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = nn.Linear(3, 2), nn.Linear(2, 3)
    def encode(self, x): return self.enc(x)
    def forward(self, x): return self.dec(self.encode(x))
ae, parts, plain, x = AE(), nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)), nn.Linear(3, 3), torch.ones(3)
# %% train
with torch.no_grad():
    ae.dec.weight.add_(1)
    parts[1].weight.add_(1)
    plain.weight.add_(1)
x = x * 2
# %% use
v = (ae.encode(x).sum() + parts[0](x).sum() + plain.bias.sum()).item()
