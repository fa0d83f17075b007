"""Another cell switched to eval, but the training cell calls train() itself; its dropout drew on.

run: setup train evaluate train
ask: train
probe: last
changed: yes
expect: rng torch.cpu 2
innocent: input model
"""
# %% setup
import copy, torch
from torch import nn
torch.manual_seed(0)
X, y = torch.randn(64, 6), torch.randint(0, 3, (64,))
model = nn.Sequential(nn.Linear(6, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 3))
init_state = copy.deepcopy(model.state_dict())
# %% train
model.load_state_dict(init_state)
model.train()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(X), y)
    loss.backward()
    opt.step()
last = loss.item()
print(last)
# %% evaluate
model.eval()
with torch.no_grad():
    acc = (model(X).argmax(1) == y).float().mean().item()
print(acc)
