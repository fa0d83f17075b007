"""A helper turns on what decides on a branch; what is read there then was set.

run: setup config build change build
ask: build
probe: width
changed: yes
expect: input config 4
"""
# %% setup
def prepare(config):
    config["wide"] = True
def width_of(config):
    if config["wide"]:
        return config["factor"] * 8
    return 8
# %% config
config = {"wide": False, "factor": 2}
# %% build
config["wide"] = False
prepare(config)
width = width_of(config)
# %% change
config["wide"], config["factor"] = False, 3
