"""Parameters that can be trained are counted; they were changed, which is nothing, and one was frozen.

run: setup count train freeze count
ask: count
probe: size
changed: yes
expect: input model 4
says: froze 1 parameter
"""
# %% setup
import torch
model = torch.nn.Linear(3, 2)
# %% count
size = sum(p.numel() for p in model.parameters() if p.requires_grad)
# %% train
with torch.no_grad():
    _ = model.weight.mul_(2)
# %% freeze
_ = model.bias.requires_grad_(False)
