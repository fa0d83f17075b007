"""The cell takes one of two models by a name; the other one changed.

run: setup ev change ev
ask: ev
probe: out
changed: yes
expect: input x 3
innocent: input models
"""
# %% setup
import torch
torch.manual_seed(0)
models = {"a": torch.nn.Linear(2, 1), "b": torch.nn.Linear(2, 1)}; x = torch.ones(1, 2); name = "a"
# %% ev
out = models[name](x).item()
# %% change
with torch.no_grad(): models["b"].weight.add_(1)
x = x + 1
