"""An attribute of the class changed that the methods of an instance read.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input Net 3 or input net 3
allow: input net
allow: input Net
"""
# %% setup
import torch
class Net(torch.nn.Module):
    scale = 2.0
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(3))
    def forward(self, x):
        return (x*self.w*self.scale).sum()
net = Net()
# %% q
out = net(torch.arange(3.)).item()
# %% other
Net.scale = 3.0
