"""A helper reads the model that it is given before it loads the first weights.

run: setup q q
ask: q
probe: before
changed: yes
expect: input model 2
allow: rng torch.cpu
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
start = {k: v.clone() for k, v in model.state_dict().items()}
X = torch.ones(4, 3)
def run(net):
    first = net(X).sum().item()
    net.load_state_dict(start)
    with torch.no_grad(): net.weight.add_(1)
    return first
# %% q
before = run(model)
