"""A helper asks for the environment variable that its caller names, which another cell set.

run: setup ins q !restart setup q
ask: q
probe: n
changed: yes
expect: environment SIZE_OF_X
"""
# %% setup
import os
def setting(name):
    return int(os.environ.get(name, "100"))
# %% ins
os.environ["SIZE_OF_X"] = "25"
# %% q
n = setting("SIZE_OF_X")
