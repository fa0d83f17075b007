"""The model was made again from where the source stood, and trained with other draws.

run: setup model train model train
ask: train
probe: final
changed: yes
expect: input model 4
expect: rng torch.cpu
allow: input opt
"""
# %% setup
import torch, numpy as np, random
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
def set_seed(s):
    random.seed(s); np.random.seed(s); torch.manual_seed(s)
set_seed(42)
X = torch.randn(64, 4); y = X.sum(1, keepdim=True)
train_dl = DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True)
# %% model
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
# %% train
def train_one_epoch(model, dl):
    model.train()
    total = 0.0
    for xb, yb in dl:
        opt.zero_grad()
        loss = ((model(xb) - yb) ** 2).mean()
        loss.backward()
        opt.step()
        total += loss.item()
    return total / len(dl)
final = train_one_epoch(model, train_dl)
