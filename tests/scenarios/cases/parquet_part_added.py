"""A folder of parquet parts is read as one table; another cell wrote one more part.

run: setup load add load
ask: load
probe: n
changed: yes
expect: file parts 3
"""
# %% setup
import os
import pandas as pd
os.makedirs("parts", exist_ok=True)
pd.DataFrame({"v": range(5)}).to_parquet("parts/part-0.parquet")
# %% load
df = pd.read_parquet("parts")
n = len(df)
n
# %% add
pd.DataFrame({"v": range(7)}).to_parquet("parts/part-1.parquet")
