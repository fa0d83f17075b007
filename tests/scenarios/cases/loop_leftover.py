"""What a loop left behind was not there before the first run: the data changed.

run: setup q ins q
ask: q
probe: final
changed: yes
expect: input x 3
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.rand(4)
steps = 3
# %% q
for step in range(steps):
    loss = float((x ** step).sum())
final = loss
# %% ins
x = x + 1
