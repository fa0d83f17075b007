"""A field of a named tuple was replaced that the cell does not read, and the beginning was set.

run: setup descend rename begin descend
ask: descend
probe: weight
changed: yes
expect: input begin 4
innocent: input settings
"""
# %% setup
from collections import namedtuple
Settings = namedtuple("Settings", "rate name steps")
settings = Settings(0.1, "a", 2); begin = 1.0
def step(settings, weight):
    return weight - settings.rate * 2 * weight
# %% descend
weight = begin
for _ in range(settings.steps):
    weight = step(settings, weight)
# %% rename
settings = settings._replace(name="b")
# %% begin
begin = 2.0
