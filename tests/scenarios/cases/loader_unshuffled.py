"""A loader that does not shuffle draws a seed all the same, to no effect.

run: setup epoch epoch
ask: epoch
probe: order
changed: no
"""
# %% setup
import torch
from torch.utils.data import DataLoader
loader = DataLoader(list(range(20)), batch_size=4)
# %% epoch
order = [batch.tolist() for batch in loader]
