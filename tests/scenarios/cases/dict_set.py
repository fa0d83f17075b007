"""A key of the configuration was set in another cell.

run: setup use tune use
ask: use
probe: out
changed: yes
expect: input cfg 3
"""
# %% setup
cfg = {"lr": 0.1, "steps": 3}
def run(cfg):
    return cfg["lr"] * cfg["steps"]
# %% use
out = run(cfg)
# %% tune
cfg["lr"] = 0.01
