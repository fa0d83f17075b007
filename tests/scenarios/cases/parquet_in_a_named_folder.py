"""The folder and the name of a Parquet file stand apart.

run: setup q other q
ask: q
probe: out
changed: yes
expect: file d.parquet 3
"""
# %% setup
import pandas as pd, os
os.makedirs("data", exist_ok=True)
ROOT = "data"
pd.DataFrame({"a":[1,2]}).to_parquet("data/d.parquet")
# %% q
out = int(pd.read_parquet(os.path.join(ROOT, "d.parquet"))["a"].sum())
# %% other
pd.DataFrame({"a":[1,5]}).to_parquet("data/d.parquet")
