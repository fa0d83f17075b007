"""The optimizer is made with another learning rate, set in a cell before it.

run: setup conf opt train setup conf@2 opt train
ask: train
probe: losses
changed: yes
expect: input opt 6 7
first: input opt
says: In[6] was edited: `lr = 0.01` → `lr = 0.03` → lr → opt
"""
# %% setup
import torch
torch.manual_seed(0)
X = torch.randn(100, 4); y = X.sum(1, keepdim=True)
model = torch.nn.Linear(4, 1)
# %% conf
lr = 0.01
epochs = 10
# %% conf@2
lr = 0.03
epochs = 10
# %% opt
opt = torch.optim.SGD(model.parameters(), lr=lr)
# %% train
losses = []
for i in range(epochs):
    opt.zero_grad()
    loss = ((model(X) - y) ** 2).mean()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    print(i, loss.item())
