"""A model was deleted and made again from the same seed.

run: model score delete model score
ask: score
probe: out
changed: no
"""
# %% model
import torch
torch.manual_seed(2)
model = torch.nn.Linear(3, 1)
# %% score
out = model(torch.ones(1, 3)).item()
# %% delete
del model
