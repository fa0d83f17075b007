"""A loader made in the cell draws a seed to no effect; the model changed.

run: setup ev tr ev
ask: ev
probe: loss
changed: yes
expect: input model 3
innocent: rng torch.cpu
"""
# %% setup
import torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
data = TensorDataset(torch.randn(12, 3))
model = torch.nn.Linear(3, 1)
# %% ev
loss = 0.0
with torch.no_grad():
    for (xb,) in DataLoader(data, batch_size=4, shuffle=False):
        loss += model(xb).sum().item()
# %% tr
with torch.no_grad():
    model.weight.add_(1)
