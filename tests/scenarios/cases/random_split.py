"""The split comes from wherever torch's source stands.

run: setup seed split noise split
ask: split
probe: list(train.indices)
changed: yes
expect: rng torch.cpu 3 4
"""
# %% setup
import random, torch
from torch.utils.data import random_split
data = list(range(50))
# %% seed
torch.manual_seed(0);
# %% split
train, test = random_split(data, [40, 10])
# %% noise
noise = torch.rand(5), random.random()
