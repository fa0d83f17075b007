"""A cell that adds a handler is run again, and each line is logged twice.

run: setup work setup work
ask: work
probe: len(log.handlers)
changed: yes
expect: flag logging 3
"""
# %% setup
import logging, sys
log = logging.getLogger("train")
log.setLevel(logging.INFO)
log.addHandler(logging.StreamHandler(sys.stdout))
# %% work
log.info("epoch %d", 1)
