"""A name was bound to another function, and is the package's own again.

run: setup use import use
ask: use
probe: found
changed: yes
expect: input mean 3
says: restored the package's own
"""
# %% setup
def mean(numbers):
    return max(numbers)


def middle(numbers):
    return mean(numbers)


# %% use
found = middle([1, 2, 6])
# %% import
from statistics import mean
