"""A flag was set: another branch runs now, whose list changed as well.

run: setup go change go
ask: go
probe: out
changed: yes
expect: input debug
allow: input extra
"""
# %% setup
debug = False
extra = [1]
a = 2
# %% go
out = sum(extra) if debug else a
# %% change
debug = True
extra.append(4)
