"""The cell reads the docstring of its function, which was edited; the list changed as well.

run: setup use grow use@2
ask: use
probe: v
changed: yes
expect: code use
expect: input xs 3
"""
# %% setup
xs = [1, 2]
# %% use
def f(x):
    "one"
    return x
v = (f.__doc__, sum(xs))
# %% use@2
def f(x):
    "two"
    return x
v = (f.__doc__, sum(xs))
# %% grow
xs.append(5)
