"""A function copies a table and adds up all of it.

run: load total recode total
ask: total
probe: s
changed: yes
expect: input sales 3
"""
# %% load
import pandas as pd

sales = pd.DataFrame({"units": [3, 1, 2], "price": [2.0, 5.0, 1.0], "shop": [1, 2, 1]})


def everything(df):
    df = df.copy()
    df["units"] = df["units"] * 2
    return float(df.sum().sum())


# %% total
s = everything(sales)
print(s)
# %% recode
sales["shop"] = sales["shop"] * 10
