"""The text of a query names a variable, which another cell set.

run: setup q p q
ask: q
probe: n
changed: yes
expect: input limit 3
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"a": range(10)})
limit = 3
# %% q
n = len(df.query("a > @limit"))
# %% p
limit = 7
