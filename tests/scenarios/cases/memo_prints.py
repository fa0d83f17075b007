"""The first call says that it works something out.

run: setup compute compute
ask: compute
probe: len(memo)
changed: no
expect: input memo 2
verdict: explained
"""
# %% setup
memo = {}
def square(n):
    if n not in memo:
        print("working out", n)
        memo[n] = n * n
    return memo[n]
# %% compute
out = [square(i) for i in range(3)]
