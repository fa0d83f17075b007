"""The mode was switched of a model that has no layer that depends on it.

run: setup pred mode data pred
ask: pred
probe: p
changed: yes
expect: input x 4
innocent: input model
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.ReLU())
x = torch.ones(3, 4)
# %% pred
with torch.no_grad():
    p = model(x).tolist()
# %% mode
model.eval();
# %% data
x = x * 2
