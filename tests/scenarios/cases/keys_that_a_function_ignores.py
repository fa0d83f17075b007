"""Items were changed of a configuration that a function takes by name and ignores, and the seed.

run: setup config build change seed build
ask: build
probe: weights.tolist()
changed: yes
expect: input seed 5
innocent: input config
"""
# %% setup
import torch
seed = 0
def make(width, seed, **_):
    torch.manual_seed(seed)
    return torch.nn.Linear(4, width)
# %% config
config = {"width": 3, "note": "first"}
# %% build
weights = make(seed=seed, **config).weight.detach().clone()
# %% change
config["note"] = "second"
# %% seed
seed = 1
