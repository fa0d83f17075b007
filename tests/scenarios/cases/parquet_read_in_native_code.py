"""A helper reads a Parquet file, which no Python code opens; another cell wrote it again.

run: setup q other q
ask: q
probe: out
changed: yes
expect: file d.parquet 3
"""
# %% setup
import pandas as pd
pd.DataFrame({"a":[1,2]}).to_parquet("d.parquet")
def load():
    return pd.read_parquet("d.parquet")
# %% q
out = int(load()["a"].sum())
# %% other
pd.DataFrame({"a":[1,5]}).to_parquet("d.parquet")
