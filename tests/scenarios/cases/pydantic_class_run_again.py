"""The cell of a pydantic model was run again as it is; the cell makes the config and draws.

run: imports models use models use
ask: use
probe: w
changed: yes
expect: rng python 3
needs: pydantic
"""
# %% imports
import random
from pydantic import BaseModel, field_validator
random.seed(0)
# %% models
class Cfg(BaseModel):
    width: int = 3
    @field_validator('width')
    @classmethod
    def positive(cls, v):
        assert v > 0
        return v
# %% use
cfg = Cfg()
w = [random.random() for _ in range(cfg.width)]
w
