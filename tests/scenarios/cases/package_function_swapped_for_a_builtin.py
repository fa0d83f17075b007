"""A helper calls a package's function by its name, which is bound to another one since.

run: setup use swap use
ask: use
probe: found
changed: yes
expect: input mean 3
says: before, it was the package's own
"""
# %% setup
from statistics import mean


def middle(numbers):
    return mean(numbers)


# %% use
found = middle([1, 2, 6])
# %% swap
mean = max
