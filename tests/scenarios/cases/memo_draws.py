"""Results were drawn where the memo had none: the second run draws less.

run: setup compute compute
ask: compute
probe: out
changed: yes
expect: input memo 2
"""
# %% setup
import numpy as np
memo = {}
def weights(n):
    if n not in memo:
        memo[n] = np.random.rand(n)
    return memo[n]
# %% compute
np.random.seed(0)
w = weights(3)
out = np.random.rand()
