"""New tensors are made on another device.

run: setup make switch make
ask: make
probe: where
changed: yes
expect: flag torch.default_device 3
"""
# %% setup
import torch
# %% make
where = torch.ones(3).device.type
# %% switch
torch.set_default_device("meta")
