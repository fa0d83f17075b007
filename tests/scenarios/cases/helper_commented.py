"""The helper was defined again with another comment.

run: helper use helper@2 use
ask: use
probe: out
changed: no
"""
# %% helper
def area(r):
    return 3 * r * r
# %% helper@2
# rough
def area(r):
    # pi is about three
    return 3 * r * r
# %% use
out = area(2)
