"""Millions of numbers were drawn, cell by cell: no one reseeded what no one seeded.

run: setup draw noise noise draw
ask: draw
probe: x.tolist()
changed: yes
expect: rng torch.cpu
says: torch's random stream had moved on
"""
# %% setup
import torch
# %% noise
noise = [torch.rand(10_000) for _ in range(420)]
# %% draw
x = torch.rand(3)
