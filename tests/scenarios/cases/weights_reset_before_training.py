"""A function that is applied to all layers resets them before the cell trains.

run: setup q q
ask: q
probe: loss
changed: yes
expect: rng torch.cpu 2
innocent: input model
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
def reset_weights(layer):
    if hasattr(layer, "reset_parameters"):
        layer.reset_parameters()
X, y = torch.randn(32, 4), torch.randn(32, 1)
# %% q
model.apply(reset_weights)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    out = ((model(X) - y) ** 2).mean()
    out.backward()
    opt.step()
loss = out.item()
