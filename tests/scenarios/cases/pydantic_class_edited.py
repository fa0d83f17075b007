"""The default of a pydantic model was edited and its cell run again; the cell makes the config.

run: imports models use models@2 use
ask: use
probe: w
changed: yes
expect: input Cfg 4
needs: pydantic
"""
# %% imports
from pydantic import BaseModel
# %% models
class Cfg(BaseModel):
    width: int = 3
# %% models@2
class Cfg(BaseModel):
    width: int = 5
# %% use
cfg = Cfg()
w = list(range(cfg.width))
w
