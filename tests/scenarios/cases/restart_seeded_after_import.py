"""The cell imports torch and seeds it itself; what it multiplies was edited.

run: value use !restart value@2 use
ask: use
probe: out
changed: yes
expect: input count
innocent: rng torch.cpu
"""
# %% value
count = 2
# %% value@2
count = 3
# %% use
import torch
torch.manual_seed(0)
out = torch.rand(count).tolist()
