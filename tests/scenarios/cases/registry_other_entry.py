"""Another entry of the registry than the one that the cell builds is replaced; the noise changed.

run: setup q more q
ask: q
probe: out
changed: yes
expect: rng torch.cpu
"""
# %% setup
import torch
torch.manual_seed(0)
CONFIGS = {"small": {"width": 2}, "big": {"width": 64}}
def build(name):
    config = CONFIGS[name]
    return torch.nn.Linear(config["width"], 1)
# %% q
model = build("small")
out = model.weight.sum().item()
# %% more
CONFIGS["big"] = {"width": 128}
