"""The checkpoint that the cell loads was written again after more training.

run: setup save load train save load
ask: load
probe: norm
changed: yes
expect: file best.pt
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
# %% save
torch.save(model.state_dict(), "best.pt")
# %% load
state = torch.load("best.pt")
norm = float(state["weight"].norm())
# %% train
with torch.no_grad():
    model.weight += 1
