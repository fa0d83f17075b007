"""The generator that moved on is known to the loader alone.

run: setup epoch epoch
ask: epoch
probe: order
changed: yes
expect: rng loader.generator 2
"""
# %% setup
import torch
from torch.utils.data import DataLoader
loader = DataLoader(list(range(40)), batch_size=8, shuffle=True,
                    generator=torch.Generator().manual_seed(0))
# %% epoch
order = [batch.tolist() for batch in loader]
