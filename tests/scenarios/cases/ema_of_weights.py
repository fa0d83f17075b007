"""An average of the weights moves on although the weights stay.

run: setup average average
ask: average
probe: ema["weight"].tolist()
changed: yes
expect: input ema 2
"""
# %% setup
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
ema = {name: torch.zeros_like(value) for name, value in model.state_dict().items()}
# %% average
for name, value in model.state_dict().items():
    ema[name].mul_(0.9).add_(value, alpha=0.1)
