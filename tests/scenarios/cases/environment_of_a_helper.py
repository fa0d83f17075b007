"""A helper asks for an environment variable, which another cell set.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: environment MODE_X
"""
# %% setup
import os
def mode():
    return os.environ.get("MODE_X", "none")
# %% q
n = mode()
# %% ins
os.environ["MODE_X"] = "fast"
