"""A cell turned warnings into errors; the cell falls back where one is raised.

run: imports funcs use strict use
ask: use
probe: out
changed: yes
expect: flag warnings 4 or input warnings 4
"""
# %% imports
import warnings
# %% funcs
def legacy(x):
    warnings.warn('legacy is slow', DeprecationWarning)
    return x * 2
def robust(x):
    try:
        return legacy(x)
    except DeprecationWarning:
        return x * 2.5
# %% use
out = [robust(x) for x in (1, 2)]
out
# %% strict
warnings.simplefilter('error', DeprecationWarning)
