"""A net with dropout is evaluated, trained and evaluated again: the loader draws to no effect.

run: setup evaluate train evaluate
ask: evaluate
probe: acc
changed: yes
expect: input model 3
innocent: rng torch.cpu
"""
# %% setup
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X = torch.randn(200, 8); y = (X[:, 0] > 0).long()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.dropout = nn.Dropout(0.5)
        self.fc2 = nn.Linear(16, 2)
    def forward(self, x):
        return self.fc2(self.dropout(torch.relu(self.fc1(x))))
model = Net()
train_loader = DataLoader(TensorDataset(X, y), batch_size=32, shuffle=True)
test_loader = DataLoader(TensorDataset(X, y), batch_size=50)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
# %% evaluate
model.eval()
correct = 0
with torch.no_grad():
    for xb, yb in test_loader:
        correct += (model(xb).argmax(1) == yb).sum().item()
acc = correct / len(y)
print(f"accuracy {acc:.3f}")
# %% train
model.train()
for epoch in range(3):
    for xb, yb in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
