"""A function that trains something else seeds torch behind one's back.

run: setup draw other draw
ask: draw
probe: out
changed: yes
expect: rng torch.cpu 3
"""
# %% setup
import torch
torch.manual_seed(0)
class Trainer:
    def fit(self):
        torch.manual_seed(1234)
        return torch.rand(2)
# %% draw
out = torch.rand(3).tolist()
# %% other
result = Trainer().fit()
