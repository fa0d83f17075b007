"""Another cell put other defaults into a function.

run: setup q ins q
ask: q
probe: out
changed: yes
expect: input scale 3
says: default
"""
# %% setup
def scale(x, factor=2):
    return x * factor
# %% q
out = scale(3)
# %% ins
scale.__defaults__ = (5,)
