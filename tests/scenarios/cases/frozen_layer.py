"""Another cell froze a layer before the second training; all was made again in the same way.

run: setup model train model freeze train
ask: train
probe: loss
changed: yes
expect: input model 5
allow: input opt
"""
# %% setup
import torch
torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 1)
# %% model
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
# %% train
for epoch in range(3):
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
    opt.zero_grad()
loss = error.item()
# %% freeze
for parameter in model[0].parameters():
    parameter.requires_grad_(False)
