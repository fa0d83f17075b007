"""The cache file was removed by another cell: recomputed with the generator further on.

run: setup go rm go
ask: go
probe: r
changed: yes
expect: rng torch.cpu
"""
# %% setup
import os, torch
torch.manual_seed(0)
# %% go
if os.path.exists('feats.pt'):
    feats = torch.load('feats.pt')
else:
    feats = torch.randn(4); torch.save(feats, 'feats.pt')
r = feats.sum().item()
# %% rm
os.remove('feats.pt')
