"""A helper is given a frame and a column, which another cell rescaled.

run: setup use scale use
ask: use
probe: out
changed: yes
expect: input df 3
says: changed column `y`
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"x": range(10), "y": range(10, 20)})
def share(frame, column):
    return float(frame[column].sum()) / len(frame)
# %% use
out = share(df, "x") + share(df, column="y")
# %% scale
df["y"] = df["y"] * 2
df["z"] = 1
