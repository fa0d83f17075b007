"""A keyword that a partial function hands on was set in place.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input step 3
"""
# %% setup
import functools
def f(x, **k): return x*k["k"]
step = functools.partial(f, k=2)
# %% q
out = step(3)
# %% other
step.keywords["k"] = 5
