"""What functools.singledispatch has found is kept by it, and is no change of the function.

run: setup use other use
ask: use
probe: v
changed: yes
expect: input k 3
"""
# %% setup
from functools import singledispatch
@singledispatch
def show(x): return 1
@show.register
def _(x: int): return 2
k = 1
# %% other
k = 5
show("text"), show(2.5)
# %% use
v = show(3) * k
