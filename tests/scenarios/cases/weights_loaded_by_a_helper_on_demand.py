"""A helper loads the first weights only where it is asked to, and is not.

run: setup go go
ask: go
probe: loss
changed: yes
expect: input model 2
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
start = {k: v.clone() for k, v in model.state_dict().items()}
X = torch.ones(4, 3)
def train(model, fresh=False):
    if fresh:
        model.load_state_dict(start)
    l = model(X).pow(2).mean(); l.backward()
    with torch.no_grad():
        for p in model.parameters(): p -= 0.1 * p.grad
    model.zero_grad()
    return l.item()
# %% go
loss = train(model)
