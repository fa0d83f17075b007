"""The model was left in the mode of evaluation, which the training cell does not undo.

run: setup train setup freeze train
ask: train
probe: loss
changed: yes
expect: input model 4
allow: rng torch.cpu
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Dropout(0.5))
x = torch.ones(3, 4)
# %% train
torch.manual_seed(1)
loss = float(model(x).sum())
# %% freeze
model.eval();
