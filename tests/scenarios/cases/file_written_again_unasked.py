"""A file is written once more with the same content: no one asks when.

run: setup load write scale load
ask: load
probe: total
changed: yes
expect: input scale 4
"""
# %% setup
import pandas as pd

pd.DataFrame({"a": [1, 2, 3]}).to_csv("data.csv", index=False)
scale = 1
# %% load
total = scale * pd.read_csv("data.csv").a.sum()
# %% write
pd.DataFrame({"a": [1, 2, 3]}).to_csv("data.csv", index=False)
# %% scale
scale = 2
