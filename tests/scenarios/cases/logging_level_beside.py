"""The level of the log was set too, but the result is a number that depends on the data.

run: setup q ins q
ask: q
probe: out
changed: yes
expect: input data 3
innocent: flag logging
"""
# %% setup
import logging
log = logging.getLogger("mine")
data = [1]
# %% q
log.info("begin")
out = sum(data)
# %% ins
log.setLevel(logging.INFO)
data.append(2)
