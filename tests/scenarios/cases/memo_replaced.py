"""An item of a memo was replaced by hand.

run: setup compute other compute
ask: compute
probe: out
changed: yes
expect: input memo 3
"""
# %% setup
memo = {}
def square(n):
    if n not in memo:
        memo[n] = n * n
    return memo[n]
# %% compute
out = [square(i) for i in range(5)]
# %% other
memo[3] = 99
