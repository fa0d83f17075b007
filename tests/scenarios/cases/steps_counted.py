"""The model counts its calls, which nothing reads; the source moved on.

run: setup q q
ask: q
probe: out
changed: yes
expect: rng torch.cpu 2
innocent: input model
"""
# %% setup
import torch
torch.manual_seed(0)
class Model:
    def __init__(self):
        self.weight, self.calls = 2.0, 0
    def __call__(self, x):
        self.calls += 1
        return self.weight * x
model = Model()
# %% q
out = model(torch.rand(1).item())
