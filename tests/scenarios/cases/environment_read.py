"""The cell reads a variable of the environment that another cell set.

run: setup read set read
ask: read
probe: steps
changed: yes
expect: environment STEPS
"""
# %% setup
import os
os.environ["STEPS"] = "3"
# %% read
steps = int(os.environ["STEPS"])
# %% set
os.environ["STEPS"] = "5"
