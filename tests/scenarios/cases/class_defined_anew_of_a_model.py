"""A model's class is defined again, code asks for other classes, and what changed nothing explains.

run: kinds setup use kinds use
ask: use
probe: count
changed: yes
verdict: explained
allow: input net
"""
# %% kinds
import gc
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
# %% setup
net = Net()
# %% use
for layer in net.modules():
    if isinstance(layer, torch.nn.Linear):
        print(layer.out_features)
count = len(gc.get_objects())
print(count)
