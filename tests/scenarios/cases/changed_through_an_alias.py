"""Another cell scales the weights through a function, and only speaks of the model in a comment.

run: setup q change q
ask: q
probe: out
changed: yes
expect: input model 3
says: changed
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(2, 1)
weights = list(model.parameters())
# %% q
out = model(torch.ones(1, 2)).item()
# %% change
with torch.no_grad():  # model
    weights[0].mul_(2)
