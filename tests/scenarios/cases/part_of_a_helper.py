"""A helper that the cell calls reads another key of a dictionary than the cell itself.

run: setup use other use
ask: use
probe: out
changed: yes
expect: input params 3
"""
# %% setup
params = {"n": 3, "scale": 2}
def scaled(x):
    return x * params["scale"]
# %% use
out = scaled(params["n"])
# %% other
params["scale"] = 5
