"""The rate of dropout was set of a model that a cell trains.

run: setup step rate step
ask: step
probe: loss
changed: yes
expect: input model 3
says: rates of its layers
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.2))
batch = torch.ones(2, 4)
# %% step
torch.manual_seed(1)
loss = model(batch).sum().item()
# %% rate
model[1].p = 0.9
