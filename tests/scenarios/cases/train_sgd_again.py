"""The training cell is run twice: the model goes on from where it was.

run: setup model train train
ask: train
probe: loss
changed: yes
expect: input model 3
allow: input opt
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.randn(32, 4)
y = x.sum(1, keepdim=True)
# %% model
torch.manual_seed(1)
model = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
# %% train
for epoch in range(3):
    opt.zero_grad()
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
loss = error.item()
