"""Another cell has torch round the smallest numbers to zero.

run: setup q ins q
ask: q
probe: out
changed: yes
expect: flag torch.set_flush_denormal 3
"""
# %% setup
import torch
x = torch.tensor([1e-310], dtype=torch.float64)
# %% q
out = (x * 2).item()
# %% ins
done = torch.set_flush_denormal(True)
