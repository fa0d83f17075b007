"""The same numbers were put into a set in another order, and the cell takes the first.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input ids 3
"""
# %% setup
ids = {8, 0}
# %% q
out = next(iter(ids))
# %% other
ids = {0, 8}
