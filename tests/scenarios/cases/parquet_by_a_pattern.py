"""Polars reads all parquet files of a folder by a pattern; another cell saved one more.

run: setup load add load
ask: load
probe: n
changed: yes
expect: file shards 3
"""
# %% setup
import os
import polars as pl
os.makedirs("shards", exist_ok=True)
for i in range(3):
    pl.DataFrame({"i": [i] * 4, "v": [1.0 * i] * 4}).write_parquet(f"shards/part-{i}.parquet")
# %% load
df = pl.read_parquet("shards/*.parquet")
n = df.height
df.describe()
# %% add
pl.DataFrame({"i": [3] * 4, "v": [9.0] * 4}).write_parquet("shards/part-3.parquet")
