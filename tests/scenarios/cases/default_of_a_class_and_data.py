"""Defaults of a class changed that its caller gives, and so did the data.

run: classes caller data train classes@2 data@2 train
ask: train
probe: loss
changed: yes
expect: input data 6
innocent: input Net
innocent: input Config
"""
# %% classes
from dataclasses import dataclass

import torch


class Net(torch.nn.Module):
    def __init__(self, width, hidden=64, bias=True):
        super().__init__()
        self.layer = torch.nn.Linear(width, hidden, bias=bias)

    def forward(self, x):
        return self.layer(x).square().mean()


@dataclass
class Config:
    lr: float = 0.1
    hidden: int = 16


# %% classes@2
from dataclasses import dataclass

import torch


class Net(torch.nn.Module):
    def __init__(self, width, hidden=128, bias=True):
        super().__init__()
        self.layer = torch.nn.Linear(width, hidden, bias=bias)

    def forward(self, x):
        return self.layer(x).square().mean()


@dataclass
class Config:
    lr: float = 0.1
    hidden: int = 32


# %% caller
def run(data):
    torch.manual_seed(0)
    cfg = Config(hidden=8)
    return Net(3, hidden=cfg.hidden)(data).item() * cfg.lr


# %% data
data = torch.ones(3)
# %% data@2
data = torch.full((3,), 2.0)
# %% train
loss = run(data)
loss
