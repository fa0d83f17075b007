"""A loop goes over the columns that a list names; the table got another one, and a source moved.

run: setup fill more fill
ask: fill
probe: filled
changed: yes
expect: rng numpy 2
innocent: input df
needs: pandas
"""
# %% setup
import numpy as np
import pandas as pd
np.random.seed(3)
df = pd.DataFrame({"age": [22, np.nan, 35, np.nan], "fare": [7.2, 71.3, np.nan, 8.1]})
wanted = ["age", "fare"]
# %% fill
filled = {}
for name in wanted:
    column = df[name].copy()
    missing = column.isna()
    column[missing] = np.random.choice(column.dropna(), missing.sum())
    filled[name] = column.tolist()
filled
# %% more
df["deck"] = ["C", None, "B", None]
