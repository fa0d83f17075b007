"""A class's cell is run again unchanged, and nothing asks for the class of its object.

run: kinds setup use kinds use
ask: use
probe: out
changed: no
"""
# %% kinds
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2
# %% setup
net = Net()
x = torch.ones(2)
# %% use
out = net(x).sum().item()
print(out)
