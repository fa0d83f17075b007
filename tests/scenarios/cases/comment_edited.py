"""Only a comment of the cell was edited.

run: setup use use@2
ask: use
probe: out
changed: no
"""
# %% setup
base = 3
# %% use
out = base * 2  # twice
# %% use@2
# the double
out = base * 2
