"""The cell was edited so that it seeds itself: where the source stood before is not why it differs.

run: import draw draw@2
ask: draw
probe: x
changed: yes
expect: code draw
innocent: rng torch.cpu
"""

# %% import
import torch

torch.manual_seed(5)

# %% draw
x = torch.rand(3).tolist()

# %% draw@2
torch.manual_seed(1)
x = torch.rand(3).tolist()
