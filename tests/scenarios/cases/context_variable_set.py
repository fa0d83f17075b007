"""A context variable is set by another cell.

run: setup show set show
ask: show
probe: mode
changed: yes
expect: input level 3
"""
# %% setup
from contextvars import ContextVar
level = ContextVar("level", default="low")
# %% show
mode = level.get()
print(mode)
# %% set
level.set("high")
