"""Warnings became errors, and the cell catches one.

run: setup ask strict ask
ask: ask
probe: value
changed: yes
expect: flag warnings.filters 3
"""
# %% setup
import warnings


def old():
    warnings.warn("old", DeprecationWarning)
    return 1


# %% strict
warnings.simplefilter("error")
# %% ask
try:
    value = old()
except DeprecationWarning:
    value = 99
