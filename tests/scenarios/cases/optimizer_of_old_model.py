"""The model was made again with the same seed, but the optimizer still holds the old one's parameters: training has no effect.

run: imports make opt_ use make use
ask: use
probe: loss
changed: yes
expect: input net 5 or input opt 5
allow: input opt
allow: input net
"""
# %% imports
import torch
x = torch.linspace(-1, 1, 8)[:, None]; y = 3 * x
# %% make
torch.manual_seed(0)
net = torch.nn.Linear(1, 1)
# %% opt_
opt = torch.optim.SGD(net.parameters(), lr=0.1)
# %% use
for _ in range(5):
    opt.zero_grad()
    l = ((net(x) - y) ** 2).mean()
    l.backward()
    opt.step()
loss = l.item()
loss
