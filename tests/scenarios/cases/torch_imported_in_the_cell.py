"""The first run brought torch in; the second goes on where the first left it.

run: draw draw
ask: draw
probe: out
changed: yes
expect: rng torch.cpu 1
kernel: cold
"""
# %% draw
import torch
out = torch.rand(3).tolist()
