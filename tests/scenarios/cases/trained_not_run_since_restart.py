"""After the restart the model was not trained.

run: setup train score !restart setup score
ask: score
probe: out
changed: yes
expect: input model 2
says: has not been run since
"""
# %% setup
import torch
torch.manual_seed(0)
x = torch.ones(4, 3)
model = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
# %% train
loss = model(x).pow(2).mean()
loss.backward()
opt.step()
# %% score
out = model(x).sum().item()
