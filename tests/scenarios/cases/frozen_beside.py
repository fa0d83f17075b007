"""Another cell froze a model that the cell predicts with; the data were changed.

run: setup pred freeze data pred
ask: pred
probe: out
changed: yes
expect: input x 4
innocent: input model
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
x = torch.ones(1, 3)
# %% pred
with torch.no_grad():
    out = model(x).item()
# %% freeze
for p in model.parameters():
    p.requires_grad_(False)
# %% data
x = torch.full((1, 3), 2.)
