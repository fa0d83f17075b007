"""Weights that were tied are shared no more since another cell; only one is trained here.

run: setup train untie train
ask: train
probe: s
changed: yes
expect: input net 3
"""
# %% setup
import copy, torch
from torch import nn
torch.manual_seed(0)
class LM(nn.Module):
    def __init__(self):
        super().__init__(); self.emb = nn.Embedding(5, 3); self.out = nn.Linear(3, 5, bias=False); self.out.weight = self.emb.weight
    def forward(self, i): return self.out(self.emb(i))
net = LM(); ids = torch.tensor([0, 1, 2]); start = copy.deepcopy(net.state_dict())
# %% train
net.load_state_dict(start)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
for _ in range(3):
    opt.zero_grad(); nn.functional.cross_entropy(net(ids), ids).backward(); opt.step()
s = net.out.weight.sum().item()
# %% untie
net.out.weight = nn.Parameter(net.emb.weight.detach().clone())
