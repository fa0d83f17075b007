"""A helper reads a configuration from a file that another cell wrote again.

run: setup q other q
ask: q
probe: out
changed: yes
expect: file cfg.json 3
"""
# %% setup
import json
from pathlib import Path
Path("cfg.json").write_text(json.dumps({"lr": 1}))
def load():
    return json.loads(Path("cfg.json").read_text())
# %% q
out = load()["lr"]
# %% other
Path("cfg.json").write_text(json.dumps({"lr": 2}))
