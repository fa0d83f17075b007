"""The model predicts in eval mode, although torch's source moved.

run: setup predict noise predict
ask: predict
probe: out
changed: no
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)).eval()
# %% predict
with torch.no_grad():
    out = model(torch.ones(1, 4)).tolist()
# %% noise
torch.rand(9);
