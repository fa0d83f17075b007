"""A cell that writes a module was edited, and the module was loaded again.

run: write load ask write@2 load ask
ask: ask
probe: value
changed: yes
root: was edited: `return x * 2` → `return x * 50`
expect: input scaling.scale 4
"""
# %% write
%%writefile scaling.py
def scale(x):
    return x * 2
# %% write@2
%%writefile scaling.py
def scale(x):
    return x * 50
# %% load
import importlib
import scaling
_ = importlib.reload(scaling)
# %% ask
value = scaling.scale(3)
