"""The training cell is run twice: model and optimizer both go on.

run: setup train train
ask: train
probe: loss
changed: yes
expect: input model 2
expect: input opt 2
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.randn(32, 4)
y = (x.sum(1) > 0).long()
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
# %% train
for epoch in range(2):
    error = torch.nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    error.backward()
    opt.step()
loss = float(error)
