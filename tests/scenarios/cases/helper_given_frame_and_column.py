"""A helper gets the frame and bootstraps one column; another column was added.

run: setup boot addcol boot
ask: boot
probe: m
changed: yes
expect: rng rng 2
innocent: input df
"""
# %% setup
import numpy as np, pandas as pd
rng = np.random.default_rng(0)
df = pd.DataFrame({"x": np.arange(10.0), "g": list("ab") * 5})
def boot_mean(frame, col):
    return float(rng.choice(frame[col], len(frame)).mean())
# %% boot
m = boot_mean(df, "x")
# %% addcol
df["x2"] = df["x"] ** 2
