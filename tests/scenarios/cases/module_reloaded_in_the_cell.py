"""A module of one's own was edited, which the cell itself reloads; a number beside it changed.

run: setup write imports use write@2 other use
ask: use
probe: r
changed: yes
expect: file steps.py 5
"""
# %% setup
import importlib, sys
sys.dont_write_bytecode = True
sys.path.insert(0, ".")
unused = 1
# %% write
%%writefile steps.py
def f(x):
    return x + 1
# %% write@2
%%writefile steps.py
def f(x):
    return x + 100
# %% imports
import steps
# %% use
importlib.reload(steps)
r = steps.f(1)
# %% other
unused = 2
