"""Anomaly detection was switched on in between; what moved is the source.

run: setup q other q
ask: q
probe: out
changed: yes
expect: rng torch.cpu 2
"""
# %% setup
import torch
torch.manual_seed(0)
m = torch.nn.Dropout(0.5)
x = torch.ones(100)
# %% q
out = m(x).sum().item()
# %% other
torch.autograd.set_detect_anomaly(True)
copy = x.clone()
