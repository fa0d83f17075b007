"""Rows are sorted by a column that is read; another changed.

run: setup top change top
ask: top
probe: out
changed: yes
expect: input k 3
innocent: input df
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"age": [10, 30, 20], "name": ["a", "b", "c"]}); k = 1
# %% top
out = df.sort_values("age")["age"].head(k).tolist()
# %% change
df["name"] = df["name"].str.upper(); k = 2
