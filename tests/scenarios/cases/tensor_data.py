"""A tensor was changed through .data, which autograd does not count.

run: setup use nudge use
ask: use
probe: out
changed: yes
expect: input w 3
"""
# %% setup
import torch
w = torch.ones(3, requires_grad=True)
# %% use
out = (w * 2).sum().item()
# %% nudge
w.data.add_(1)
