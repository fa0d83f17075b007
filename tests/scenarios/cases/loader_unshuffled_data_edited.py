"""The loader draws a seed to no effect; what changed its batches is the data.

run: setup epoch edit epoch
ask: epoch
probe: order
changed: yes
expect: input loader or input data 3
allow: input loader
allow: input data
"""
# %% setup
import torch
from torch.utils.data import DataLoader
data = list(range(20))
loader = DataLoader(data, batch_size=4)
# %% epoch
order = [batch.tolist() for batch in loader]
# %% edit
data[0] = 100
