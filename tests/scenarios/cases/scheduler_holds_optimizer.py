"""The weights were set back by hand; optimizer and scheduler stand as new.

run: setup train restore train
ask: train
probe: loss
changed: no
"""
# %% setup
import torch
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = torch.nn.Linear(3, 1, bias=False)
start = model.weight.detach().clone()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
# %% train
for epoch in range(3):
    opt.zero_grad()
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
loss = error.item()
# %% restore
model.weight.data.copy_(start);
