"""Functional dropout follows the mode: in evaluation the loader alone draws, to no effect.

run: setup helpers evaluate train evaluate
ask: evaluate
probe: acc
changed: yes
expect: input model 4
innocent: rng torch.cpu
"""
# %% setup
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X = torch.randn(200, 8); y = (X[:, 0] > 0).long()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.fc2 = nn.Linear(16, 2)
    def forward(self, x):
        x = F.dropout(torch.relu(self.fc1(x)), 0.3, training=self.training)
        return self.fc2(x)
model = Net()
train_loader = DataLoader(TensorDataset(X, y), batch_size=32, shuffle=True)
test_loader = DataLoader(TensorDataset(X, y), batch_size=50)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
# %% helpers
def train_epoch(model, loader, opt):
    model.train()
    for xb, yb in loader:
        opt.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
    return loss.item()
@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    correct = 0
    for xb, yb in loader:
        correct += (model(xb).argmax(1) == yb).sum().item()
    model.train()
    return correct / len(loader.dataset)
# %% evaluate
acc = evaluate(model, test_loader)
print(acc)
# %% train
for epoch in range(3):
    train_epoch(model, train_loader, opt)
