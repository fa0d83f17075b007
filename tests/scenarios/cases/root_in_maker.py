"""The optimizer is made with another learning rate, set in the same cell.

run: setup opt train setup opt@2 train
ask: train
probe: losses
changed: yes
expect: input opt 5
first: input opt
says: In[5] was edited: `lr = 0.01` → `lr = 0.03` → opt
"""
# %% setup
import torch
torch.manual_seed(0)
X = torch.randn(100, 4); y = X.sum(1, keepdim=True)
model = torch.nn.Linear(4, 1)
# %% opt
lr = 0.01
opt = torch.optim.SGD(model.parameters(), lr=lr)
# %% opt@2
lr = 0.03
opt = torch.optim.SGD(model.parameters(), lr=lr)
# %% train
losses = []
for i in range(10):
    opt.zero_grad()
    loss = ((model(X) - y) ** 2).mean()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    print(i, loss.item())
