"""How large a layer is was asked of a model, which was trained in between; and a factor was set.

run: setup use train factor use
ask: use
probe: out
changed: yes
expect: input factor 4
innocent: input model
"""
# %% setup
import torch
model = torch.nn.Sequential()
model.body, model.fc = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
factor = 1
# %% use
out = model.fc.in_features * factor
# %% train
with torch.no_grad():
    for each in model.parameters():
        each.add_(1)
# %% factor
factor = 2
