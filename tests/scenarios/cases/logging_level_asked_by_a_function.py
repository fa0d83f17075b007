"""A function asks for the level of a logger, which another cell set.

run: setup work verbose work
ask: work
probe: steps
changed: yes
expect: flag logging 3
"""
# %% setup
import logging
log = logging.getLogger("train")
def steps_for(n):
    return n * 5 if log.getEffectiveLevel() <= logging.DEBUG else n
# %% work
steps = steps_for(2)
# %% verbose
log.setLevel("DEBUG")
