"""A column of the data frame was overwritten by a function of another cell.

run: setup describe clean describe
ask: describe
probe: out
changed: yes
expect: input df 3
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"age": [30, 41, 52], "name": list("abc")})
def fix(frame):
    frame.loc[0, "age"] = 99
# %% describe
out = df["age"].mean()
# %% clean
fix(df)
