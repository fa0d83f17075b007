"""Each run sets the seed's field of a pydantic config and draws; torch's state is all that differs.

run: imports models make use use
ask: use
probe: w
changed: yes
expect: rng torch.cpu 4
needs: pydantic
"""
# %% imports
import torch
from pydantic import BaseModel
torch.manual_seed(0)
# %% models
class Cfg(BaseModel):
    width: int = 3
    epoch: int = 0
# %% make
cfg = Cfg()
# %% use
cfg.epoch = 1
w = torch.randn(cfg.width).tolist()
w
