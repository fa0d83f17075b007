"""The weights were loaded back, but the optimizer's momentum was not.

run: setup keep train load train
ask: train
probe: loss
changed: yes
expect: input opt 3
"""
# %% setup
import torch, copy
torch.manual_seed(0)
X = torch.randn(64, 6); y = torch.randn(64, 1)
net = torch.nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
# %% keep
saved = copy.deepcopy(net.state_dict())
# %% train
for _ in range(5):
    opt.zero_grad()
    l = ((net(X) - y) ** 2).mean()
    l.backward(); opt.step()
loss = l.item()
# %% load
_ = net.load_state_dict(saved)
