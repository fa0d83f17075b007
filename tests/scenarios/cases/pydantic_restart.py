"""After a restart all was run again but the seed: the pydantic model is the same.

run: imports seed models use !restart imports models use
ask: use
probe: w
changed: yes
expect: rng torch.cpu
needs: pydantic
"""
# %% imports
import torch
from pydantic import BaseModel
# %% seed
torch.manual_seed(0);
# %% models
class Cfg(BaseModel):
    width: int = 3
# %% use
cfg = Cfg()
w = torch.randn(cfg.width).tolist()
w
