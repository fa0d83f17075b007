"""A key was added to a dictionary, and a column to a data frame; the cell reads both.

run: setup use other use
ask: use
probe: v
changed: yes
expect: input d 3
expect: input df 3
expect: input e 3
"""
# %% setup
import pandas as pd
d = {"a": 1, "b": 2}
e = {"a": 1, "b": 2}
df = pd.DataFrame({"a": [1, 2]})
# %% other
d["c"] = 3
del e["b"]
e["z"] = 2
df["z"] = 0
# %% use
v = "c" in d, [name for name in e], list(df.columns)
