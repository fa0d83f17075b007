"""A helper is defined again, the same, by another cell; a second helper was edited.

run: first use second use
ask: use
probe: out
changed: yes
expect: input clip 3
"""
# %% first
def scale(v):
    return 2 * v
def clip(v):
    return min(v, 10)
# %% second
def scale(v):
    return 2 * v
def clip(v):
    return min(v, 5)
# %% use
out = [clip(scale(v)) for v in range(8)]
