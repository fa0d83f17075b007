"""The data were made by a helper that asks for a variable, which is another now: it is restored.

run: setup make q ins make q
ask: q
probe: out
changed: yes
expect: input data 5
"""
# %% setup
import os
os.environ["N_ROWS"] = "3"
def rows():
    return int(os.environ["N_ROWS"])
# %% make
data = list(range(rows()))
# %% q
out = sum(data)
# %% ins
os.environ["N_ROWS"] = "5"
