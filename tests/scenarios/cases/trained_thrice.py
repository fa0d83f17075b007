"""What is evaluated was trained once more: the way back is to make it and to train it twice.

run: data model train train eval train eval
ask: eval
probe: score
changed: yes
expect: input model 6
"""
# %% data
import torch
torch.manual_seed(0)
x = torch.randn(32, 4)
y = x.sum(1, keepdim=True)
# %% model
model = torch.nn.Linear(4, 1)
opt = torch.optim.Adam(model.parameters(), lr=0.05)
# %% train
for epoch in range(3):
    order = torch.randperm(32)
    error = torch.nn.functional.mse_loss(model(x[order]), y[order])
    opt.zero_grad()
    error.backward()
    opt.step()
# %% eval
with torch.no_grad():
    score = torch.nn.functional.mse_loss(model(x), y).item()
