"""Two names hold one list now, which the cell does not change; the rate changed.

run: lists rate total lists@2 rate@2 total
ask: total
probe: total
changed: yes
expect: input rate 5
"""
# %% lists
a = [1, 2]
b = [1, 2]
# %% lists@2
a = [1, 2]
b = a
# %% rate
rate = 2
# %% rate@2
rate = 3
# %% total
total = rate * (sum(a) + sum(b))
