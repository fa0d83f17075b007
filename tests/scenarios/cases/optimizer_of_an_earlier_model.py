"""The model is made again, and the optimizer still moves the parameters of the one before.

run: setup model opt train model train
ask: train
probe: loss
changed: yes
expect: input model 5
expect: input opt 5
says: `opt` no longer belongs to model
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
