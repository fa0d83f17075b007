"""Misses are counted where the memo had none.

run: setup compute compute
ask: compute
probe: out
changed: yes
expect: input memo 2
allow: input stats
"""
# %% setup
memo = {}
stats = {"miss": 0}
def square(n):
    if n not in memo:
        stats["miss"] += 1
        memo[n] = n * n
    return memo[n]
# %% compute
stats["miss"] = 0
out = sum(square(i) for i in range(3)) + stats["miss"]
