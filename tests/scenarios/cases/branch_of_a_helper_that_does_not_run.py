"""A helper returns before it comes to a table that changed.

run: setup ev change ev
ask: ev
probe: out
changed: yes
expect: input xs 3
"""
# %% setup
xs = [1, 2]; table = {"a": 1}; mode = "sum"
def compute(v):
    if mode == "sum":
        return sum(v)
    return table["a"] * sum(v)
# %% ev
out = compute(xs)
# %% change
xs.append(9); table["a"] = 5
