"""The weights were restored, but the optimizer kept its momentum.

run: setup train reset train
ask: train
probe: loss
changed: yes
expect: input opt 2
"""
# %% setup
import copy, torch
torch.manual_seed(0)
x = torch.randn(32, 4)
y = x.sum(1, keepdim=True)
model = torch.nn.Linear(4, 1)
start = copy.deepcopy(model.state_dict())
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
# %% train
for epoch in range(3):
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
    opt.zero_grad()
loss = error.item()
# %% reset
model.load_state_dict(start)
