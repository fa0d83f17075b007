"""A hook keeps activations in a dictionary, which the cell shows after the pass; weights changed.

run: setup forward change forward
ask: forward
probe: shown
changed: yes
expect: input model 3
innocent: input activations
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1))
activations = {}
def keep(module, inputs, output):
    activations["hidden"] = output.detach()
handle = model[0].register_forward_hook(keep)
x = torch.ones(2, 4)
# %% forward
_ = model(x)
shown = activations["hidden"].mean().item()
print(shown)
# %% change
with torch.no_grad():
    model[0].bias += 1
