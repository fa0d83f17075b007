"""Columns were reordered, and the cell drops one; and the power was set.

run: setup use order power use
ask: use
probe: out
changed: yes
expect: input power 4
expect: input df 3
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0], "c": [3.0, 5.0]})
power = 1
# %% use
out = (df.drop(columns=["b"]) ** power).to_numpy().tolist()
# %% order
df = df[["c", "b", "a"]]
# %% power
power = 2
