"""Of arrays, a dictionary and a data frame the cell reads how they are laid out; numbers changed.

run: setup use other use
ask: use
probe: v
changed: yes
expect: input k 3
innocent: input a
innocent: input d
innocent: input df
"""
# %% setup
import numpy as np, pandas as pd, torch
a, t, k = np.zeros((2, 3)), torch.zeros(2, 3), 1
d = {"a": 1, "b": 2}
df = pd.DataFrame({"a": [1, 2]})
# %% other
a[0, 0] = t[0, 0] = 5
d["a"] = 100
df["a"] = df["a"] * 2
k = 2
# %% use
v = (np.ones_like(a).sum() + torch.ones_like(t).sum().item()) * k, str(a.dtype), "a" in d
v += tuple(name * k for name in d), list(df.columns), sorted(d.keys())
