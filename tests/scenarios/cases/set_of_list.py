"""A list is reversed; the cell makes a set of it and iterates over that.

run: setup look turn look
ask: look
probe: first
changed: yes
expect: input numbers 3
"""
# %% setup
numbers = [0, 8]
# %% look
first = next(iter(set(numbers)))
print(first)
# %% turn
numbers.reverse()
