"""A default of a class changed that one of two callers leaves out.

run: classes caller train classes@2 train
ask: train
probe: losses
changed: yes
expect: input Net 4
says: default argument `hidden`
"""
# %% classes
import torch


class Net(torch.nn.Module):
    def __init__(self, width, hidden=64):
        super().__init__()
        self.layer = torch.nn.Linear(width, hidden)

    def forward(self, x):
        return self.layer(x).square().mean()


# %% classes@2
import torch


class Net(torch.nn.Module):
    def __init__(self, width, hidden=128):
        super().__init__()
        self.layer = torch.nn.Linear(width, hidden)

    def forward(self, x):
        return self.layer(x).square().mean()


# %% caller
def run(*sizes):
    torch.manual_seed(0)
    return Net(*sizes)(torch.ones(3)).item()


def small():
    torch.manual_seed(0)
    return Net(3, hidden=4)(torch.ones(3)).item()


# %% train
losses = small(), run(3)
losses
