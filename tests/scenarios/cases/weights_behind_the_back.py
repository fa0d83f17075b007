"""Parameters were changed through another name, without autograd's notice.

run: setup score prune score
ask: score
probe: out
changed: yes
expect: input model 3
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.ones(1, 4)
model = torch.nn.Linear(4, 2)
weights = [p for p in model.parameters()]
# %% score
out = model(x).tolist()
# %% prune
weights[0].data[0] = 0
