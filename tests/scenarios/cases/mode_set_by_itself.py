"""The cell sets the mode itself: in which one it finds the model is no matter, the data are.

run: setup score data score
ask: score
probe: score
changed: yes
expect: input x 3
innocent: input model
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Dropout(0.5))
x = torch.ones(3, 4)
# %% score
model.eval()
with torch.no_grad():
    score = model(x).tolist()
# %% data
x = x * 2
