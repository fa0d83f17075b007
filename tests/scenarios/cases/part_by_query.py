"""Rows are picked by a query on one column; another column changed.

run: setup pick change pick
ask: pick
probe: out
changed: yes
expect: input limit 3
innocent: input df
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"age": [10, 20, 30], "name": ["a", "b", "c"]}); limit = 15
# %% pick
out = df.query("age > @limit")["age"].sum()
# %% change
df["name"] = df["name"].str.upper(); limit = 25
