"""A table is made of raw rows where there is no file, and there was none: the rows changed.

run: setup q change q
ask: q
probe: out
changed: yes
expect: input raw 3
"""
# %% setup
from pathlib import Path

import pandas as pd

raw = pd.DataFrame({"v": [1, 2, 3]})
k = 2
path = Path("table.csv")
# %% q
if path.exists():
    t = pd.read_csv(path)
else:
    t = raw.copy()
    t.to_csv(path, index=False)
out = (t["v"] * k).tolist()
# %% change
path.unlink()
raw["v"] = raw["v"] * 10
