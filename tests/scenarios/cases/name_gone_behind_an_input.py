"""The name that a maker looks up was deleted, so that it took another way.

run: setup make q drop make q
ask: q
probe: out
changed: yes
expect: input data 5
"""
# %% setup
limit = 3
# %% make
try:
    data = list(range(limit))
except NameError:
    data = [0]
# %% q
out = sum(data) + len(data)
# %% drop
del limit
