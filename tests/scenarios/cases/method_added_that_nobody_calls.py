"""A method was added to the model's class that the cell does not call.

run: cls use cls@2 use
ask: use
probe: out
changed: yes
expect: rng torch.cpu
innocent: input Net
"""
# %% cls
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.l = torch.nn.Linear(2, 1)
    def forward(self, x): return self.l(x)
# %% cls@2
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.l = torch.nn.Linear(2, 1)
    def forward(self, x): return self.l(x)
    def count(self): return sum(p.numel() for p in self.parameters())
# %% use
net = Net()
out = net(torch.ones(1, 2)).item()
