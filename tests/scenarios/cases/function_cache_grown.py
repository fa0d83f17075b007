"""A list that is a function's default argument grows with each call.

run: setup q q
ask: q
probe: out
changed: yes
expect: input remember 2
says: the function's default argument `seen` changed its length 0 → 1
"""
# %% setup
def remember(item, seen=[]):
    seen.append(item)
    return list(seen)
# %% q
out = remember("x")
