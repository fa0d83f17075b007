"""Augmentation is switched off: the cell no longer draws, which is a result of the switch.

run: setup use off use
ask: use
probe: y.sum().item()
changed: yes
expect: input cfg 3
innocent: rng torch.cpu
"""
# %% setup
import torch

torch.manual_seed(0)
x = torch.ones(8)
cfg = {"augment": True}
# %% use
y = x + torch.randn_like(x) if cfg["augment"] else x
# %% off
cfg["augment"] = False
