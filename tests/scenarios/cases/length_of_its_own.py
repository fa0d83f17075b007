"""The length of a data set of the user's is what its data add up to.

run: setup use edit use
ask: use
probe: v
changed: yes
expect: input rows 3
"""
# %% setup
import torch
class Rows(torch.utils.data.Dataset):
    def __init__(self, X): self.X = X
    def __len__(self): return int(self.X.sum())
    def __getitem__(self, i): return self.X[i]
rows = Rows(torch.ones(6))
# %% use
v = len(rows)
# %% edit
rows.X += 1
