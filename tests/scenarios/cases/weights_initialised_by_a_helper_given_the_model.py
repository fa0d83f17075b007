"""A helper initialises the layers of the model that it is given.

run: setup q q
ask: q
probe: loss
changed: yes
expect: rng torch.cpu 2
innocent: input net
"""
# %% setup
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
X, y = torch.randn(32, 4), torch.randn(32, 1)
def reset(m):
    if hasattr(m, "reset_parameters"): m.reset_parameters()
def fit(net, steps=3):
    net.apply(reset)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(steps):
        opt.zero_grad(); out = ((net(X)-y)**2).mean(); out.backward(); opt.step()
    return out.item()
# %% q
loss = fit(net)
