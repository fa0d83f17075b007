"""The cell groups one column by another; a third changed.

run: setup f other f
ask: f
probe: m
changed: yes
expect: input q 3
innocent: input df
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"k": list("aabb"), "v": [1., 2., 3., 5.], "note": list("wxyz")})
q = 0.5
# %% f
m = df.groupby("k")["v"].quantile(q).tolist()
# %% other
df["note"] = "none"
q = 0.9
