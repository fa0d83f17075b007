"""Two names hold one list now, which changes nothing.

run: lists total lists@2 total
ask: total
probe: total
changed: no
innocent: input a
"""
# %% lists
a = [1, 2]
b = [1, 2]
# %% lists@2
a = [1, 2]
b = a
# %% total
total = sum(a) + sum(b)
