"""Warnings became errors, which the cell would catch; but its data changed.

run: setup ask strict ask
ask: ask
probe: value
changed: yes
expect: input data 3
innocent: flag warnings.filters
"""
# %% setup
import warnings

data = [1, 2]
# %% strict
warnings.simplefilter("error")
data = [1, 5]
# %% ask
try:
    value = sum(data)
except DeprecationWarning:
    value = 99
