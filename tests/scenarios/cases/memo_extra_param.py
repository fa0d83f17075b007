"""A memo that leaves out an argument: another cell filled it with another scale, and n was edited.

run: setup compute other ins compute
ask: compute
probe: out
changed: yes
expect: input n 4
expect: input memo 3
"""
# %% setup
memo = {}
def scaled(n, scale):
    if n not in memo:
        memo[n] = n * scale
    return memo[n]
n = 2
# %% compute
out = scaled(n, 10)
# %% other
print(scaled(5, 1))
# %% ins
n = 5
