"""Only lengths of loaders and data sets are read; their rows were made again, and the epochs edited.

run: setup epochs data plan data@2 epochs@2 plan
ask: plan
probe: steps
changed: yes
expect: input EPOCHS 6
innocent: input loader
innocent: input mine
innocent: input part
"""
# %% setup
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, at):
        return self.rows[at]
# %% epochs
EPOCHS = 2
# %% epochs@2
EPOCHS = 3
# %% data
loader = DataLoader(TensorDataset(torch.zeros(20)), batch_size=4, shuffle=True)
mine = {"train": DataLoader(Rows([1, 2, 3]), batch_size=2)}
part, _ = random_split(Rows([1, 2, 3]), [2, 1])
# %% data@2
loader = DataLoader(TensorDataset(torch.ones(20)), batch_size=4, shuffle=True)
mine = {"train": DataLoader(Rows([4, 5, 6]), batch_size=2)}
part, _ = random_split(Rows([4, 5, 6]), [2, 1])
# %% plan
steps = EPOCHS * len(loader) + len(mine["train"]) + len(loader.dataset) + len(part)
