"""A compiled model was changed: that it was compiled at its first call is no change of it.

run: setup predict change predict
ask: predict
probe: out
changed: yes
expect: input compiled 3
says: In[3] changed `compiled`: 1 of 4 parameters
back: complete
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
compiled = torch.compile(model, backend="eager")
# %% predict
with torch.no_grad():
    out = compiled(torch.ones(2, 3)).sum().item()
# %% change
with torch.no_grad():
    model[2].bias.add_(0.5)
