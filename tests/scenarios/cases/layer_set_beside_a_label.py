"""A setting of a layer of the user's changed, and a label of the model that no layer reads.

run: setup score other score
ask: score
probe: score
changed: yes
expect: input net 3
says: its layers
"""
# %% setup
import torch
class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.by = 1.0
    def forward(self, x):
        return x * self.by
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.tag = Scale(), "first"
    def forward(self, x):
        return self.scale(x)
net = Net()
# %% score
score = net(torch.ones(2)).tolist()
# %% other
net.tag = "second"
net.scale.by = 2.0
