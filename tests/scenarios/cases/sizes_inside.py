"""Only sizes of what objects hold are asked; their contents changed, and the factor.

run: setup use edit use
ask: use
probe: v
changed: yes
expect: input k 3
"""
# %% setup
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self, X): self.X = X
    def __len__(self): return len(self.X)
    def __getitem__(self, i): return self.X[i]
class Box:
    def __init__(self): self.X = np.zeros((3, 2))
    def width(self): return self.X.shape[1]
rows, box, net = Rows(torch.zeros(6, 2)), Box(), torch.nn.Linear(3, 2)
loader, batch, k = DataLoader(torch.zeros(6, 2)), {"x": torch.zeros(4, 3), "y": [1, 2]}, 1
# %% use
v = k * (len(rows) + len(loader.dataset) + len(batch["y"]) + box.width()
         + batch["x"].shape[0] + net.weight.shape[1])
# %% edit
with torch.no_grad(): net.weight.add_(1)
rows.X += 1; box.X += 1; batch["x"] += 1; batch["y"][0] = 5
loader.dataset.add_(1)
k = 2
