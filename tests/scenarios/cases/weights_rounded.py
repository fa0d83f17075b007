"""The model went to half precision and back in another cell.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input model 3
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4,1)
x = torch.randn(5,4)
# %% q
out = model(x).sum().item()
# %% other
model.half().float()
