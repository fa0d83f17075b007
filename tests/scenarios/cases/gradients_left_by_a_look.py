"""A cell calls backward on one batch to debug; training zeroes gradients only after the step.

run: setup train debug train
ask: train
probe: final
changed: yes
expect: input model 3
says: gradients
"""
# %% setup
import copy, torch
from torch import nn
torch.manual_seed(0)
X, y = torch.randn(60, 3), torch.randn(60, 1)
model = nn.Linear(3, 1)
init = copy.deepcopy(model.state_dict())
# %% train
model.load_state_dict(init)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for xb, yb in zip(X.split(10), y.split(10)):
    loss = nn.functional.mse_loss(model(xb), yb)
    loss.backward()
    opt.step()
    opt.zero_grad()
final = model.weight.detach().flatten().tolist()
print(final)
# %% debug
loss0 = nn.functional.mse_loss(model(X), y)
loss0.backward()
print({n: p.grad.norm().item() for n, p in model.named_parameters()})
