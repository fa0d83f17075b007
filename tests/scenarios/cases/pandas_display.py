"""pandas shows fewer rows since another cell.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: flag pandas.options.display 3
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"a": range(100)})
# %% q
n = repr(df)
print(df)
# %% ins
pd.set_option("display.max_rows", 6)
