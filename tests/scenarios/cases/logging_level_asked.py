"""A cell asks for the level of a logger, which another cell set.

run: setup work verbose work
ask: work
probe: steps
changed: yes
expect: flag logging 3
"""
# %% setup
import logging
log = logging.getLogger("train")
# %% work
steps = 5 if log.isEnabledFor(logging.DEBUG) else 1
# %% verbose
log.setLevel(logging.DEBUG)
