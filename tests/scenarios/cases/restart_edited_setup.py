"""The setup cell was edited before it ran in the new kernel.

run: setup compute !restart setup@2 compute
ask: compute
probe: out
changed: yes
expect: input n 3
"""
# %% setup
n = 3
items = list(range(10))
# %% setup@2
n = 4
items = list(range(10))
# %% compute
out = items[:n]
