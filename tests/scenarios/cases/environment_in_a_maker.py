"""The maker of the data asked for a variable that is another now.

run: setup make q ins make q
ask: q
probe: out
changed: yes
expect: input data 5
"""
# %% setup
import os
os.environ["N_ROWS"] = "3"
# %% make
data = list(range(int(os.environ["N_ROWS"])))
# %% q
out = sum(data)
# %% ins
os.environ["N_ROWS"] = "5"
