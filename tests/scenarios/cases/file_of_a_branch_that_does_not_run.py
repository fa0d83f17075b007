"""A checkpoint was rewritten that is loaded only where a setting says so, and the seed was set.

run: setup save fit save@2 seed fit
ask: fit
probe: weights
changed: yes
expect: input config 5
"""
# %% setup
import os
import torch
config = {"resume": False, "path": "last.pt", "seed": 3}
# %% save
torch.save(torch.nn.Linear(2, 1).state_dict(), "last.pt")
# %% save@2
torch.save({"weight": torch.ones(1, 2), "bias": torch.ones(1)}, "last.pt")
# %% fit
torch.manual_seed(config["seed"])
layer = torch.nn.Linear(2, 1)
if config["resume"] and os.path.exists(config["path"]):
    layer.load_state_dict(torch.load(config["path"]))
weights = layer.weight.tolist()
# %% seed
config["seed"] = 4
