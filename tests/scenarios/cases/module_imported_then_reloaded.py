"""The first run imports the module itself; it was written again and loaded again.

run: w use w2 rel use
ask: use
probe: r
changed: yes
expect: input lib or input lib.f 4
"""
# %% w
%%writefile lib.py
def f(x):
    return x + 1
# %% use
import lib
r = lib.f(1)
# %% w2
%%writefile lib.py
def f(x):
    return x + 1000
# %% rel
import importlib; importlib.reload(lib);
