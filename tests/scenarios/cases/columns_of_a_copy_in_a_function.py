"""Only an unread column of the frame changed; a function copies the frame before it works. The factor acts.

run: load total recode factor total
ask: total
probe: s
changed: yes
expect: input factor 4
innocent: input sales
"""
# %% load
import pandas as pd
sales = pd.DataFrame({"units": [3, 1, 2], "price": [2.0, 5.0, 1.0], "shop": ["a", "b", "a"]})
factor = 1.0
def revenue(df, factor):
    df = df.copy()
    df["rev"] = df["units"] * df["price"] * factor
    return float(df["rev"].sum())
# %% total
s = revenue(sales, factor)
print(s)
# %% recode
sales["shop"] = sales["shop"].map({"a": "north", "b": "south"})
# %% factor
factor = 1.1
