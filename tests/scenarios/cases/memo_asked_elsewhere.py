"""Another cell filled the memo dictionary of a function; a constant was edited.

run: setup compute other ins compute
ask: compute
probe: out
changed: yes
expect: input k 4
innocent: input memo
"""
# %% setup
memo = {}
def square(n):
    if n not in memo:
        memo[n] = n * n
    return memo[n]
k = 2
# %% compute
out = [square(i) * k for i in range(5)]
# %% other
print(square(7), square(8))
# %% ins
k = 3
