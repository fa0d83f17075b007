"""The cell reads some rows of a data frame by their places, and one of these changed.

run: setup use change use
ask: use
probe: out
changed: yes
expect: input df 3
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
# %% use
head = df[:1]
out = head["a"].sum()
# %% change
df.loc[0, "a"] = 9.0
