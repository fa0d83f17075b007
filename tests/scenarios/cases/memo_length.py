"""The cell asks how much the memo keeps.

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
out = square(2) + len(memo)
# %% other
print(square(7))
