"""The list of columns holds the one that the cell sets later: it is read first.

run: load fit fit
ask: fit
probe: total
changed: yes
expect: input df 2
"""
# %% load
import pandas as pd

df = pd.DataFrame({"bmi": [1.0, 2.0, 3.0], "bp": [2.0, 1.0, 0.5], "pred": [0.0, 0.0, 0.0]})
FEATURES = ["bmi", "bp", "pred"]
# %% fit
df["pred"] = df[FEATURES].sum(axis=1)
total = float(df["pred"].sum())
print(total)
