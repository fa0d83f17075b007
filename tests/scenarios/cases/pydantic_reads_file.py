"""The cell parses JSON with a pydantic model; the file was edited and the model's cell run again as it is.

run: imports models write use models write@2 use
ask: use
probe: n
changed: yes
expect: file cfg.json 6
needs: pydantic
"""
# %% imports
from pathlib import Path
from pydantic import BaseModel
# %% models
class Opt(BaseModel):
    lr: float = 0.1
class Cfg(BaseModel):
    width: int = 3
    opt: Opt = Opt()
# %% write
Path('cfg.json').write_text('{"width": 4, "opt": {"lr": 0.2}}');
# %% write@2
Path('cfg.json').write_text('{"width": 7, "opt": {"lr": 0.2}}');
# %% use
cfg = Cfg.model_validate_json(Path('cfg.json').read_text())
n = cfg.width * cfg.opt.lr
n
