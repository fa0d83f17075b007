"""The replaced function is restored: the result of before returns, against a patched run.

run: setup patch fwd back fwd
ask: fwd
probe: out
changed: yes
expect: input torch.nn.functional.relu 4
"""
# %% setup
import torch
import torch.nn.functional as F
x = torch.linspace(-1, 1, 9)
relu = F.relu
# %% patch
F.relu = F.elu
# %% fwd
out = F.relu(x).sum().item()
# %% back
F.relu = relu
