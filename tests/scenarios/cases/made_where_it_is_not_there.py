"""The cell makes a model only where there is none yet.

run: setup train train
ask: train
probe: loss
changed: yes
expect: input model
allow: input opt
"""
# %% setup
import torch
torch.manual_seed(0)
X = torch.ones(4, 2)
# %% train
if "model" not in globals():
    model = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
opt.zero_grad(); l = model(X).pow(2).mean(); l.backward(); opt.step()
loss = l.item()
