"""A validation cell switches modes and back; training was restored to its start.

run: setup train validate restore train
ask: train
probe: loss
changed: no
"""
# %% setup
import copy, torch
torch.manual_seed(0)
x, y = torch.randn(16, 3), torch.randn(16, 1)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5), torch.nn.Linear(3, 1))
start = copy.deepcopy(model.state_dict())
# %% train
torch.manual_seed(1)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(3):
    opt.zero_grad()
    error = torch.nn.functional.mse_loss(model(x), y)
    error.backward()
    opt.step()
loss = error.item()
# %% validate
model.eval()
score = model(x).mean().item()
model.train();
# %% restore
model.load_state_dict(start)
