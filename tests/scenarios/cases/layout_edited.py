"""The cell was only laid out again.

run: setup use use@2
ask: use
probe: out
changed: no
"""
# %% setup
values = [1, 2, 3]
# %% use
out = {"sum": sum(values), "max": max(values)}
# %% use@2
out = {
    "sum": sum(values),
    "max": max(values),
}
