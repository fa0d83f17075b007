"""How layers begin and how an optimizer steps are replaced; another optimizer's step has no part in it.

run: setup train patch train
ask: train
probe: w
changed: yes
expect: input torch.nn.Linear.reset_parameters 3
expect: input torch.optim.SGD.step 3
"""
# %% setup
import torch
from torch import nn
# %% train
torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 3) * 5
for _ in range(3):
    opt.zero_grad()
    net(x).pow(2).mean().backward()
    opt.step()
w = net.weight.sum().item()
# %% patch
def begin(self):
    nn.init.xavier_uniform_(self.weight)
    nn.init.zeros_(self.bias)
nn.Linear.reset_parameters = begin
step = torch.optim.SGD.step
def clipped(self, closure=None):
    for group in self.param_groups:
        nn.utils.clip_grad_norm_(group["params"], 0.1)
    return step(self, closure)
torch.optim.SGD.step = clipped
torch.optim.Adam.step = clipped
