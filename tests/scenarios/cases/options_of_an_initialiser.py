"""A function that initialises a model reads options that another cell changed: they are a cause.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input options 3
expect: rng torch.cpu
"""
# %% setup
import torch
options = {"scale": 1.0}
def init_model(options):
    return torch.nn.Linear(3, 1).weight.detach() * options["scale"]
torch.manual_seed(0)
# %% q
model = init_model(options)
out = model.sum().item()
# %% other
options["scale"] = 5.0
