"""A memo by a key made of two arguments, in try and except; k was edited.

run: setup compute ins compute
ask: compute
probe: out
changed: yes
expect: input k 3
innocent: input kept
"""
# %% setup
kept = dict()
def power(n, e=2):
    key = (n, e)
    try:
        return kept[key]
    except KeyError:
        value = n ** e
        kept[key] = value
        return value
k = 2
# %% compute
out = [power(i) * k for i in range(5)]
# %% ins
k = 3
