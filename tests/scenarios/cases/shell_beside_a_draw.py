"""A program is run beside a draw, and it is the draw that started from another state.

run: setup draw other draw
ask: draw
probe: x
changed: yes
expect: rng torch.cpu 2
"""
# %% setup
import torch
torch.manual_seed(0)
# %% draw
!date +%s%N
x = torch.rand(2).tolist()
# %% other
y = torch.rand(1)
