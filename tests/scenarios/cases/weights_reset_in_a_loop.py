"""The layers are reset from a seed in the cell; the width of the noise changed.

run: setup train sigma train
ask: train
probe: final
changed: yes
expect: input sigma 3
innocent: input net
innocent: rng torch.cpu
"""
# %% setup
import torch
from torch import nn
x = torch.linspace(-1, 1, 32).unsqueeze(1)
net = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 1))
sigma = 0.1
# %% train
torch.manual_seed(0)
for layer in net:
    if hasattr(layer, "reset_parameters"):
        layer.reset_parameters()
y = x ** 2 + sigma * torch.randn_like(x)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(10):
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
final = loss.item()
print(final)
# %% sigma
sigma = 0.3
