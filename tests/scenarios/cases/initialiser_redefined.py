"""The function that resets the weights was defined again, and draws from another distribution.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input reset_weights 3
expect: rng torch.cpu
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
def reset_weights(layer):
    torch.nn.init.normal_(layer.weight)
# %% q
reset_weights(model)
out = model.weight.sum().item()
# %% other
def reset_weights(layer):
    torch.nn.init.uniform_(layer.weight)
