"""A tally in a dictionary goes on.

run: setup compute compute
ask: compute
probe: out
changed: yes
expect: input tally 2
"""
# %% setup
tally = {}
def count(key):
    tally[key] = tally.get(key, 0) + 1
    return tally[key]
# %% compute
out = count("a")
