"""A folder of parquet parts is read as one table; another cell wrote one of them again.

run: setup load redo load
ask: load
probe: n
changed: yes
expect: file parts 3
"""
# %% setup
import os
import pandas as pd
os.makedirs("parts", exist_ok=True)
for i in range(2):
    pd.DataFrame({"v": range(5)}).to_parquet(f"parts/part-{i}.parquet")
# %% load
df = pd.read_parquet("parts")
n = len(df)
n
# %% redo
pd.DataFrame({"v": range(7)}).to_parquet("parts/part-1.parquet")
