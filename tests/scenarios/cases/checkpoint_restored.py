"""The model was restored from its checkpoint before it was trained again.

run: setup save train load train
ask: train
probe: loss
changed: no
"""
# %% setup
import torch
torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 1)
model = torch.nn.Linear(4, 1)
# %% save
torch.save(model.state_dict(), "start.pt")
# %% train
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    opt.zero_grad()
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
loss = error.item()
# %% load
model.load_state_dict(torch.load("start.pt"))
