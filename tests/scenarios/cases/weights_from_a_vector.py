"""All parameters are written from a vector in the cell; the net was trained elsewhere; one entry of the vector changed.

run: setup ev other ev
ask: ev
probe: v
changed: yes
expect: input theta 3
innocent: input net
"""
# %% setup
import torch
from torch import nn
from torch.nn.utils import vector_to_parameters, parameters_to_vector
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
theta = parameters_to_vector(net.parameters()).detach().clone()
x = torch.randn(6, 2)
# %% ev
vector_to_parameters(theta, net.parameters())
with torch.no_grad():
    v = net(x).pow(2).mean().item()
# %% other
theta = theta.clone(); theta[0] += 0.5
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net(x).sum().backward(); opt.step(); opt.zero_grad()
