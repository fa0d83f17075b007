"""The optimizer is made for the model that is there, after one that was for an earlier model.

run: setup model opt model train opt train
ask: train
probe: loss
changed: yes
expect: input opt 6
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.randn(32, 4)
y = x.sum(1, keepdim=True)
# %% model
model = torch.nn.Linear(4, 1)
# %% opt
opt = torch.optim.SGD(model.parameters(), lr=0.05)
# %% train
for epoch in range(3):
    opt.zero_grad()
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
loss = error.item()
