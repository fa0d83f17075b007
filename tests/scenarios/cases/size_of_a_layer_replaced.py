"""How large a layer is was asked of a model whose layer was replaced after it was trained.

run: setup use train layer use
ask: use
probe: out
changed: yes
expect: input model 4
"""
# %% setup
import torch
model = torch.nn.Sequential()
model.body, model.fc = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
# %% use
out = model.fc.out_features
# %% train
with torch.no_grad():
    for each in model.parameters():
        each.add_(1)
# %% layer
model.fc = torch.nn.Linear(4, 10)
