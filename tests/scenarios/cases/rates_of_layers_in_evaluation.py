"""The rates of dropout and of running averages were set of a model that is evaluated, and the data.

run: setup predict rates data predict
ask: predict
probe: out
changed: yes
expect: input batch 4
innocent: input model
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.2)).eval()
batch = torch.ones(2, 4)
# %% predict
with torch.inference_mode():
    out = model(batch).sum().item()
# %% rates
model[1].momentum, model[2].p = 0.5, 0.9
# %% data
batch = batch * 3
