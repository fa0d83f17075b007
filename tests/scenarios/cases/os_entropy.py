"""A helper asks the system for random bytes.

run: setup name name
ask: name
probe: token
changed: yes
expect: entropy os.urandom
"""
# %% setup
import os
def fresh():
    return os.urandom(4).hex()
# %% name
token = f"run-{fresh()}"
