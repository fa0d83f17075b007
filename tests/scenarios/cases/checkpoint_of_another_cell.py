"""Two cells save to one file, once each: the evaluation loads the later one. A recorded cell can write the first again.

run: setup train_a evaluate train_b evaluate
ask: evaluate
probe: score
changed: yes
root: wrote `model.pt`
expect: file model.pt 4
"""
# %% setup
import torch
from torch import nn
gen = torch.Generator().manual_seed(2)
X = torch.randn(24, 3, generator=gen)
# %% train_a
torch.manual_seed(0)
net_a = nn.Linear(3, 1)
torch.save(net_a.state_dict(), "model.pt")
# %% evaluate
net = nn.Linear(3, 1)
net.load_state_dict(torch.load("model.pt"))
with torch.no_grad():
    score = net(X).mean().item()
# %% train_b
torch.manual_seed(1)
net_b = nn.Linear(3, 1)
torch.save(net_b.state_dict(), "model.pt")
