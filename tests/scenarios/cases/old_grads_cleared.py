"""Dropout draws on; the restored model differs only in gradients that the cell clears first.

run: setup train restore train
ask: train
probe: loss
changed: yes
expect: rng torch.cpu 2
innocent: input model
"""
# %% setup
import copy, torch
torch.manual_seed(0)
x, y = torch.randn(32, 6), torch.randn(32, 1)
model = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.Dropout(0.5), torch.nn.Linear(16, 1))
start = copy.deepcopy(model.state_dict())
# %% train
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    opt.zero_grad()
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
loss = error.item()
# %% restore
model.load_state_dict(start)
