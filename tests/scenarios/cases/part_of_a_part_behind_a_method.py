"""A trainer and a model keep a configuration; another field of it and the data changed.

run: setup use other data use
ask: use
probe: out
changed: yes
expect: input X 4
innocent: input trainer
innocent: input net
"""
# %% setup
from types import SimpleNamespace
import torch
cfg = SimpleNamespace(rate=0.5, name="a")
X = torch.ones(3)
class Net(torch.nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
    def forward(self, x):
        return x * self.cfg.rate
class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
    def run(self, model, x):
        return [model(x).sum().item() for _ in range(int(self.cfg.rate * 4))]
net, trainer = Net(cfg), Trainer(cfg)
# %% use
out = trainer.run(net, X)
# %% other
cfg.name = "b"
# %% data
X = X * 3
