"""Workers get their seeds from torch's source, and draw from numpy.

run: setup seed epoch epoch
ask: epoch
probe: batches
changed: yes
expect: rng torch.cpu 3
"""
# %% setup
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset
class Noisy(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return i + np.random.rand()
loader = DataLoader(Noisy(), num_workers=2, multiprocessing_context="fork")
# %% seed
torch.manual_seed(0);
# %% epoch
batches = [batch.item() for batch in loader]
