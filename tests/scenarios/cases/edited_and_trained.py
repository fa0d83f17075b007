"""The cell was edited, its model trained and its source moved, all at once.

run: setup fit fit@2
ask: fit
probe: loss
changed: yes
expect: code fit
expect: input model 2
expect: rng torch.cpu 2
allow: input opt
"""
# %% setup
import torch
torch.manual_seed(0)
x, y = torch.randn(32, 6), torch.randn(32, 1)
model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Dropout(0.5), torch.nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
# %% fit
for epoch in range(2):
    opt.zero_grad()
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
loss = error.item()
# %% fit@2
for epoch in range(3):
    opt.zero_grad()
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
loss = error.item()
