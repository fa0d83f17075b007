"""A data set of one's own has more rows than before, so its loader has more batches.

run: setup plan more plan
ask: plan
probe: steps
changed: yes
expect: input loader 3
"""
# %% setup
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, at):
        return self.rows[at]
data = Rows([1, 2, 3])
loader = DataLoader(data, batch_size=2)
# %% plan
steps = len(loader)
# %% more
data.rows.extend([4, 5, 6])
