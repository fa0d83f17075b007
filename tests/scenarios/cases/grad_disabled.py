"""Gradients were switched off in another cell.

run: setup forward infer forward
ask: forward
probe: tracked
changed: yes
expect: flag torch.grad_enabled 3
"""
# %% setup
import torch
torch.manual_seed(0)
layer = torch.nn.Linear(2, 1)
# %% forward
out = layer(torch.ones(1, 2))
tracked = out.requires_grad
# %% infer
torch.set_grad_enabled(False);
