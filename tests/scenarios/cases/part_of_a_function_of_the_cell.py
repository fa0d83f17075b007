"""A function of the cell gets a config whose other field changed, and so did the data.

run: setup q change q
ask: q
probe: w
changed: yes
expect: input rows 3
innocent: input args
"""
# %% setup
from types import SimpleNamespace
args = SimpleNamespace(rate=0.1, workers=2)
rows = [1.0, 2.0, 3.0]
# %% q
def fit(rows, options):
    w = 0.0
    for row in rows:
        w += options.rate * (row - w)
    return w
w = fit(rows, args)
# %% change
args.workers = 8
rows[0] = 5.0
