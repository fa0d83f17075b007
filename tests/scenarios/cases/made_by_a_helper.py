"""A function that another cell calls makes the model again: no text names it there.

run: setup q reset q
ask: q
probe: out
changed: yes
expect: input model 3
says: made `model` again
"""
# %% setup
import torch
torch.manual_seed(0)
def fresh():
    global model
    model = torch.nn.Linear(2, 1)
fresh()
# %% q
out = model(torch.ones(1, 2)).item()
# %% reset
fresh()
