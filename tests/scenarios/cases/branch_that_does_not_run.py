"""A list changed that only another branch reads.

run: setup go change go
ask: go
probe: out
changed: yes
expect: input a 3
"""
# %% setup
debug = False; extra = [1]; a = 2
# %% go
if debug:
    out = sum(extra)
else:
    out = a * 2
# %% change
extra = [5]; a = 3
