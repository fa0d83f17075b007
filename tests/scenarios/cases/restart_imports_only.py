"""The cell imports torch, draws nothing, and reads a variable that was edited.

run: value use !restart value@2 use
ask: use
probe: out
changed: yes
expect: input factor
innocent: rng torch.cpu
kernel: cold
"""
# %% value
factor = 2.0
# %% value@2
factor = 3.0
# %% use
import torch
import numpy as np
out = (torch.ones(2) * factor).sum().item()
