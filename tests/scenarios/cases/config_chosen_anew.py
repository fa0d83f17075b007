"""Another configuration was added, and chosen.

run: setup q more q
ask: q
probe: out
changed: yes
expect: input choice
allow: input CONFIGS
"""
# %% setup
CONFIGS = {"small": {"width": 2}, "big": {"width": 64}}
choice = "small"
def build(name):
    return CONFIGS[name]["width"]
# %% q
out = build(choice) * 3
# %% more
CONFIGS["huge"] = {"width": 1024}
choice = "huge"
