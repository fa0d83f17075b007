"""Another cell set an attribute of a function that the cell calls.

run: setup q ins q
ask: q
probe: out
changed: yes
expect: input scale 3
"""
# %% setup
def scale(x):
    return x * scale.factor
scale.factor = 2
# %% q
out = scale(3)
# %% ins
scale.factor = 5
