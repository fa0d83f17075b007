"""A parameter is shown, which was frozen: the numbers are the same, and its text differs.

run: setup show freeze show
ask: show
probe: repr(model.bias)
changed: yes
expect: input model 3
"""
# %% setup
import torch

model = torch.nn.Linear(2, 1)
# %% show
model.bias
# %% freeze
_ = model.bias.requires_grad_(False)
