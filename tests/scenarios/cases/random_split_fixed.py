"""The split is given a generator with a seed, so nothing that moved matters.

run: setup split noise split
ask: split
probe: list(train.indices)
changed: no
"""
# %% setup
import torch
from torch.utils.data import random_split
data = list(range(50))
# %% split
train, test = random_split(data, [40, 10], generator=torch.Generator().manual_seed(7))
# %% noise
noise = torch.rand(5)
