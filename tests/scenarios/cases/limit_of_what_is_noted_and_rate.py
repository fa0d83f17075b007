"""How often is noted changed type only, and the learning rate: one training depends on it.

run: imports cfg train cfg@2 train
ask: train
probe: w
changed: yes
expect: input lr
innocent: input log_every
"""
# %% imports
import torch
from sklearn.datasets import load_diabetes
X, y = load_diabetes(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32)
# %% cfg
lr = 0.1
log_every = 50
# %% cfg@2
lr = 0.2
log_every = 50.0
# %% train
w = torch.zeros(X.shape[1], requires_grad=True)
for step in range(10):
    loss = ((X @ w - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
        w.grad.zero_()
every = int(log_every)
