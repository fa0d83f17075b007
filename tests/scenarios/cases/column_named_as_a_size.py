"""A column of a data frame has the name by which a tensor tells its size.

run: setup use edit use
ask: use
probe: v
changed: yes
expect: input df 3
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"dim": [1, 2]})
# %% use
v = int(df.dim.sum())
# %% edit
df["dim"] = [5, 5]
