"""A column was added that the function of rows does not read; the tax changed.

run: setup tax gross more tax@2 gross
ask: gross
probe: total
changed: yes
expect: input tax 5
innocent: input df
"""
# %% setup
import pandas as pd

df = pd.DataFrame({"price": [1.0, 2.0], "count": [3.0, 4.0]})
# %% tax
tax = 0.1
# %% tax@2
tax = 0.2
# %% more
df["note"] = "new"
# %% gross
total = df.apply(lambda row: row.price * row["count"] * (1 + tax), axis=1).sum()
