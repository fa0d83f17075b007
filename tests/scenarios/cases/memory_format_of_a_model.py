"""Another cell laid a model's weights out in memory by channels: the same numbers, added up otherwise.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input model 3
says: in another order in memory
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 2), torch.nn.ReLU())
# %% q
out = [parameter.stride() for parameter in model.parameters()]
# %% other
model = model.to(memory_format=torch.channels_last)
