"""Another cell sorted a frame in place.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input df 3
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"a":[3,1,2],"b":[1,2,3]})
# %% q
out = df["b"].iloc[0]
# %% other
df.sort_values("a", inplace=True)
