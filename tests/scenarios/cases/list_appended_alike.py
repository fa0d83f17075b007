"""Both runs add the same score to a list: that the model was trained has no part in it.

run: setup score train score
ask: score
probe: log
changed: yes
expect: input log 2
innocent: input model
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.randn(8, 3)
model = torch.nn.Linear(3, 2)
log = []
# %% score
log.append(model(x).shape[1])
# %% train
with torch.no_grad():
    model.weight.mul_(1.5)
