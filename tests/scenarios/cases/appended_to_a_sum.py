"""A list that the cell appends to is what its sum is made of.

run: setup work work
ask: work
probe: total
changed: yes
expect: input history 2
"""
# %% setup
history = []
# %% work
x = 3
history.append(x)
total = sum(history)
print(total)
