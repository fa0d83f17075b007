"""The cell was edited; a loop runs once more.

run: setup use use@2
ask: use
probe: total
changed: yes
expect: code use
"""
# %% setup
values = [1, 2, 3]
# %% use
total = 0
for value in values[:2]:
    total += value
# %% use@2
total = 0
for value in values[:3]:
    total += value
