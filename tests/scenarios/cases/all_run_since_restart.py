"""After the restart all cells were run, one of them edited: none was left out.

run: setup clean q !restart setup clean@2 q
ask: q
probe: m
changed: yes
expect: input df 5
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"a": [1., None, 3.]})
# %% clean
df = df.fillna(0)
# %% clean@2
df = df.fillna(1)
# %% q
m = float(df["a"].mean())
