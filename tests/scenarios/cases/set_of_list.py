"""A list is turned around, of which the cell makes a set and goes through it in its order.

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
