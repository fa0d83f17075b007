"""A helper of the helper was redefined; the helper itself was not.

run: inner outer use inner@2 use
ask: use
probe: total
changed: yes
expect: input weight 4
"""
# %% inner
def weight(v):
    return v
# %% inner@2
def weight(v):
    return v * v
# %% outer
def score(values):
    return sum(weight(v) for v in values)
# %% use
total = score(range(4))
