"""A column was changed that a function of rows reads.

run: setup gross cheaper gross
ask: gross
probe: total
changed: yes
expect: input df 3
"""
# %% setup
import pandas as pd

df = pd.DataFrame({"price": [1.0, 2.0], "count": [3.0, 4.0]})


def cost(row):
    return row.price * row["count"]


# %% cheaper
df["price"] = df["price"] / 2
# %% gross
total = df.apply(cost, axis=1).sum()
