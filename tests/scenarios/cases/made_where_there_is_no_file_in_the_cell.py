"""A table is read from a file where there is one; what it would be made of changed.

run: setup q change q
ask: q
probe: out
changed: yes
expect: input k 3
innocent: input raw
"""
# %% setup
from pathlib import Path
import pandas as pd
raw = pd.DataFrame({"v": [1, 2, 3]})
raw.to_csv("table.csv", index=False)
k = 2
# %% q
path = Path("table.csv")
if path.exists():
    t = pd.read_csv(path)
else:
    t = raw.copy()
    t.to_csv(path, index=False)
out = (t["v"] * k).tolist()
# %% change
raw["v"] = raw["v"] * 10
k = 3
