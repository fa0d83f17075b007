"""Ten micro batches, a step every four: two are left in .grad and count in the next run.

run: setup train train
ask: train
probe: w
changed: yes
expect: input model 2
"""
# %% setup
import torch
from torch import nn
torch.manual_seed(0)
X, y = torch.randn(100, 3), torch.randn(100, 1)
model = nn.Linear(3, 1)
start = {k: v.clone() for k, v in model.state_dict().items()}
# %% train
model.load_state_dict(start)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
accumulate = 4
for step in range(10):
    xb, yb = X[step * 10:step * 10 + 10], y[step * 10:step * 10 + 10]
    loss = nn.functional.mse_loss(model(xb), yb) / accumulate
    loss.backward()
    if (step + 1) % accumulate == 0:
        opt.step()
        opt.zero_grad()
w = model.weight.detach().flatten().tolist()
print(w)
