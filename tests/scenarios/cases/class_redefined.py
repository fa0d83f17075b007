"""The class of the model was edited; its weights come from a seed.

run: net score net@2 score
ask: score
probe: out
changed: yes
expect: input Net 3
innocent: rng torch.cpu
"""
# %% net
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
    def forward(self, x):
        return torch.relu(self.layer(x))
# %% net@2
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
    def forward(self, x):
        return torch.sigmoid(self.layer(x))
# %% score
torch.manual_seed(0)
out = Net()(torch.ones(1, 3)).item()
