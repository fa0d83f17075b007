"""The path of a Parquet file is in a variable that a helper reads.

run: setup q other q
ask: q
probe: out
changed: yes
expect: file d.parquet 3
"""
# %% setup
import pandas as pd
from pathlib import Path
DATA = Path("d.parquet")
pd.DataFrame({"a":[1,2]}).to_parquet(DATA)
def load():
    return pd.read_parquet(DATA)
# %% q
out = int(load()["a"].sum())
# %% other
pd.DataFrame({"a":[1,5]}).to_parquet(DATA)
