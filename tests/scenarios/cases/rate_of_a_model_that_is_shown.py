"""The rate of dropout was set of a model in evaluation that the cell shows.

run: setup show rate show
ask: show
probe: str(model)
changed: yes
expect: input model 3
"""
# %% setup
import torch
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.2)).eval()
# %% show
print(model)
# %% rate
model[1].p = 0.9
