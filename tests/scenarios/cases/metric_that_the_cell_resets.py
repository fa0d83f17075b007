"""The metric is reset at the top of the cell; the dropout masks of MC evaluation are the cause.

run: setup evaluate evaluate
ask: evaluate
probe: acc
changed: yes
expect: rng torch.cpu 2
innocent: input metric
innocent: input losses
"""
# %% setup
import torch
from torch import nn
from torchmetrics.classification import MulticlassAccuracy
torch.manual_seed(0)
X = torch.randn(200, 5); y = X[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(5, 16), nn.Dropout(0.5), nn.ReLU(), nn.Linear(16, 3)).train()
metric = MulticlassAccuracy(num_classes=3)
losses = []
# %% evaluate
metric.reset()
losses.clear()
with torch.no_grad():
    for xb, yb in zip(X.split(50), y.split(50)):
        out = model(xb)
        metric.update(out, yb)
        losses.append(nn.functional.cross_entropy(out, yb).item())
acc = metric.compute().item()
print(acc, sum(losses) / len(losses))
