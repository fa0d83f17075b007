"""The cell takes the next batch of an iterator that another cell made.

run: setup take take
ask: take
probe: batch
changed: yes
expect: input batches 2
"""
# %% setup
import torch
from torch.utils.data import DataLoader
loader = DataLoader(torch.arange(20.), batch_size=4)
batches = iter(loader)
# %% take
batch = next(batches).tolist()
