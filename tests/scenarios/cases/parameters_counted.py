"""Parameters are counted, here and in a helper; they were trained, and a factor was edited.

run: setup factor count train factor@2 count
ask: count
probe: size
changed: yes
expect: input FACTOR 5
innocent: input model
"""
# %% setup
import torch
model = torch.nn.Linear(3, 2)
def trainable(net):
    return sum(p.numel() for p in net.parameters() if p.requires_grad)
# %% factor
FACTOR = 4
# %% factor@2
FACTOR = 2
# %% count
size = FACTOR * trainable(model), sum([p.numel() for p in model.parameters()])
# %% train
with torch.no_grad():
    _ = model.weight.mul_(2)
