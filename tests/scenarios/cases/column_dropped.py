"""A column was filled in that the cell drops, and the power was set.

run: setup use fill power use
ask: use
probe: out
changed: yes
expect: input power 4
innocent: input df
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"a": [1.0, 2.0], "b": [None, 1.0]})
power = 1
# %% use
X = df.drop("b", axis=1)
out = (X**power).sum().to_dict()
# %% fill
df["b"] = df["b"].fillna(0)
# %% power
power = 2
