"""A function starts with df = df.dropna(subset=[...]); an unread column was recoded; the quantile acts.

run: load q0 recode q q0
ask: q0
probe: out
changed: yes
expect: input q 4
innocent: input df
"""
# %% load
import numpy as np, pandas as pd
df = pd.DataFrame({"wage": [9.5, np.nan, 20.1, 31.0], "name": list("abcd")})
q = 0.5
def cut(df, q):
    df = df.dropna(subset=["wage"])
    return float(df["wage"].quantile(q))
# %% q0
out = cut(df, q)
print(out)
# %% recode
df["name"] = df["name"].str.upper()
# %% q
q = 0.9
