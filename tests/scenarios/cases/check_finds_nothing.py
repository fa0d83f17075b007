"""A check in between finds that the cell repeats, and leaves the generator where the run did.

run: setup draw draw@2
ask: draw
probe: out.tolist()
changed: yes
expect: rng torch.cpu 2
"""
# %% setup
import torch
torch.manual_seed(0)
# %% draw
out = torch.rand(4)
# %% draw@2
%%deterministic --check
out = torch.rand(4)
