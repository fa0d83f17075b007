"""Of some rows one column is read; another column was added, and the limit changed.

run: setup limit total more limit@2 total
ask: total
probe: total
changed: yes
expect: input limit 5
innocent: input df
"""
# %% setup
import pandas as pd

df = pd.DataFrame({"a": [1, 2, 3], "b": [1.0, 2.0, 4.0]})
# %% limit
limit = 1
# %% limit@2
limit = 2
# %% more
df["c"] = 0.0
# %% total
total = df[df.a > limit].b.sum()
