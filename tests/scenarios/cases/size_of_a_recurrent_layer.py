"""How large a layer is was asked of a recurrent model, which was trained in between.

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
model.body, model.fc = torch.nn.GRU(3, 4), torch.nn.Linear(4, 2)
factor = 1
# %% use
out = model.fc.in_features * factor
# %% train
with torch.no_grad():
    for each in model.parameters():
        each.add_(1)
# %% factor
factor = 2
