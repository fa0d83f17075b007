"""One column is summed up by another; a third changed.

run: setup agg change agg
ask: agg
probe: out
changed: yes
expect: input scale 3
innocent: input df
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"g": [1, 1, 2], "v": [10, 30, 20], "c": [0, 0, 0]}); scale = 1
# %% agg
out = (df.groupby("g").agg({"v": "mean"}) * scale).v.tolist()
# %% change
df["c"] = [1, 2, 3]; scale = 2
