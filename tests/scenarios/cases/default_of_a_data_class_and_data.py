"""A default of a data class changed that its object does not have, and so did the data.

run: config make data train config@2 make data@2 train
ask: train
probe: loss
changed: yes
expect: input data 7
innocent: input Config
"""
# %% config
from dataclasses import dataclass


@dataclass
class Config:
    lr: float = 0.1
    hidden: int = 8


# %% config@2
from dataclasses import dataclass


@dataclass
class Config:
    lr: float = 0.2
    hidden: int = 8
    dropout: float = 0.0


# %% make
cfg = Config(lr=0.5)
# %% data
import torch

data = torch.ones(3)
# %% data@2
import torch

data = torch.ones(4)
# %% train
loss = (data * cfg.lr).sum() * cfg.hidden
loss
