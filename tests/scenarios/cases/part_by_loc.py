"""The cell reads two columns of a frame by a mask; another was added.

run: setup f other f
ask: f
probe: s
changed: yes
expect: input lo 3
innocent: input df
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})
lo = 1
# %% f
s = int(df.loc[df["a"] > lo, "b"].sum())
# %% other
df["c"] = 0
lo = 2
