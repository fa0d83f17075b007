"""A method of the model's class was edited that the cell does not call.

run: cls make use cls@2 make use
ask: use
probe: out
changed: yes
expect: rng torch.cpu
innocent: input Model
"""
# %% cls
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.w = torch.nn.Parameter(torch.ones(2))
    def forward(self, x): return x * self.w
    def summary(self): return "one"
# %% cls@2
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__(); self.w = torch.nn.Parameter(torch.ones(2))
    def forward(self, x): return x * self.w
    def summary(self): return "two parameters"
# %% make
model = Model()
# %% use
out = model(torch.rand(2)).tolist()
