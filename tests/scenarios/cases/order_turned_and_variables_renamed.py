"""A list was turned round through an alias; the weights were deleted and made again as they were.

run: setup q again q@2
ask: q
probe: out
changed: yes
expect: input order 3
innocent: code q
"""
# %% setup
import numpy as np
w = np.random.default_rng(0).normal(size=4)
order = [2, 0, 3, 1]
perm = order
# %% q
out = 0.0
for i, k in enumerate(order):
    out += (i + 1) * w[k]
# %% q@2
out = 0.0
for place, key in enumerate(order):  # weighted by place
    out += (place + 1) * w[key]
# %% again
del w
w = np.random.default_rng(0).normal(size=4)
perm.reverse()
