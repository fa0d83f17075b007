"""A column was changed that is among the features.

run: setup total scale total
ask: total
probe: total
changed: yes
expect: input df 3
"""
# %% setup
import pandas as pd

df = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0]})
features = ["a", "b"]
# %% scale
df["b"] = df["b"] * 10
# %% total
total = df[features].to_numpy().sum()
