"""A hook keeps activations in a dictionary that the cell never reads before; the batch changed.

run: setup forward batch forward
ask: forward
probe: total
changed: yes
expect: input x 3
innocent: input activations
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1))
activations = {}
def keep(name):
    def hook(module, inputs, output):
        activations[name] = output.detach()
    return hook
for name, layer in model.named_children():
    layer.register_forward_hook(keep(name))
x = torch.ones(2, 4)
# %% forward
with torch.no_grad():
    out = model(x)
total = out.sum().item()
print(total)
# %% batch
x = torch.full((2, 4), 3.0)
