"""The cell asks a dictionary for a key that a variable holds: that one changed.

run: setup use other use
ask: use
probe: out
changed: yes
expect: input cfg 3
"""
# %% setup
cfg = {"n": 3, "lr": 0.1}
key = "lr"
# %% use
out = cfg.get("n", 5) + cfg.get(key)
# %% other
cfg["lr"] = 0.5
