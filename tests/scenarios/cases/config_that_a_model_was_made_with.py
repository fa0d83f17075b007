"""A width and a scale were edited; the model was made before, and only the scale acts on it.

run: config net make use config@2 use
ask: use
probe: out
changed: yes
expect: input scale 5
"""
# %% config
import torch
from torch import nn
class CFG:
    width = 3
scale = 1.0
# %% config@2
import torch
from torch import nn
class CFG:
    width = 4
scale = 2.0
# %% net
class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc = nn.Linear(2, CFG.width)
    def forward(self, x):
        return self.fc(x)
# %% make
torch.manual_seed(0)
model = Net()
# %% use
model.eval()
with torch.no_grad():
    out = (model(torch.ones(1, 2)) * scale).sum().item()
