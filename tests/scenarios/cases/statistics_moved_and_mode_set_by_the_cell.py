"""A cell that fed data through the model in train mode moved its running statistics.

run: setup score feed score
ask: score
probe: out
changed: yes
says: net had changed: In[3] changed 3 of 3 buffers
expect: input net 3
"""
# %% setup
import torch, torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5))
X = torch.randn(40, 3)
# %% score
net.eval()
with torch.no_grad():
    out = net(X).mean(0).tolist()
# %% feed
net.train()
with torch.no_grad():
    net(X * 3 + 1)
_ = net.eval()
