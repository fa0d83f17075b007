"""A memo asked by get and filled by setdefault; the constant was edited.

run: setup compute other ins compute
ask: compute
probe: out
changed: yes
expect: input k 4
innocent: input memo
"""
# %% setup
memo = {}
def cube(n):
    got = memo.get(n)
    if got is None:
        got = memo.setdefault(n, n ** 3)
    return got
k = 2
# %% compute
out = [cube(i) * k for i in range(5)]
# %% other
print(cube(9))
# %% ins
k = 3
