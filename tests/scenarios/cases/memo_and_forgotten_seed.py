"""The first call filled a memo; then the seed was forgotten.

run: setup compute compute
ask: compute
probe: out
changed: yes
expect: rng numpy 2
innocent: input memo
"""
# %% setup
import numpy as np
np.random.seed(0)
memo = {}
def basis(n):
    if n not in memo:
        memo[n] = np.linspace(0, 1, n)
    return memo[n]
# %% compute
out = basis(5) + np.random.rand(5)
