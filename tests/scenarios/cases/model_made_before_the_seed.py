"""A cell makes its model, then seeds: the first weights are others each time.

run: setup fit noise fit
ask: fit
probe: score
changed: yes
expect: rng torch.cpu 2 3
says: seeded torch with
back: complete
"""
# %% setup
import random
import numpy as np
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
    def forward(self, x):
        return self.layer(x)
def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
# %% fit
model = Net()
set_seed(42)
score = model(torch.randn(5, 3)).sum().item()
# %% noise
_ = torch.rand(1000), random.random(), np.random.rand(3)
