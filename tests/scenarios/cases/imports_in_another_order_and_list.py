"""The imports were put in another order; the list changed.

run: setup use grow use@2
ask: use
probe: s
changed: yes
expect: input xs 3
"""
# %% setup
xs = [4, 1, 3]
# %% use
import math, statistics
s = statistics.fmean(xs) + math.sqrt(len(xs))
# %% use@2
import statistics
import math
s = statistics.fmean(xs) + math.sqrt(len(xs))
# %% grow
xs.append(10)
