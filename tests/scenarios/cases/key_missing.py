"""The key was taken away, and now the cell fails.

run: setup read drop read
ask: read
probe: "lr" in cfg
changed: yes
expect: input cfg 3
"""
# %% setup
cfg = {"lr": 0.1}
# %% read
rate = cfg["lr"]
# %% drop
del cfg["lr"]
