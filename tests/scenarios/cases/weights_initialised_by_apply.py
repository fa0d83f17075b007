"""The cell initialises the weights by a function that is applied to all layers.

run: setup q q
ask: q
probe: out
changed: yes
expect: rng torch.cpu 2
innocent: input model
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(5,2)
def init(m):
    if isinstance(m, torch.nn.Linear):
        torch.nn.init.xavier_uniform_(m.weight); torch.nn.init.zeros_(m.bias)
# %% q
model.apply(init)
out = model(torch.ones(1,5)).sum().item()
