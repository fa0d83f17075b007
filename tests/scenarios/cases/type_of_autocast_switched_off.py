"""The type of autocast was set where a switch keeps it off, and so was a step.

run: setup fit kind step fit
ask: fit
probe: weights
changed: yes
expect: input every 4
"""
# %% setup
import torch
use_amp = False; kind = torch.bfloat16; every = 1
rows = torch.arange(8.0).view(4, 2)
# %% fit
torch.manual_seed(0)
layer = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
for place, row in enumerate(rows, 1):
    with torch.autocast("cpu", dtype=kind, enabled=use_amp):
        loss = layer(row).pow(2).mean() / every
    loss.backward()
    if place % every == 0:
        optimizer.step()
        optimizer.zero_grad()
weights = layer.weight.tolist()
# %% kind
kind = torch.float16
# %% step
every = 2
