"""Another cell set the level of the log, which the cell prints.

run: setup q ins q
ask: q
probe: said
changed: yes
expect: flag logging 3
"""
# %% setup
import io
import logging
log = logging.getLogger("mine")
# %% q
stream = io.StringIO()
handler = logging.StreamHandler(stream)
log.addHandler(handler)
log.warning("high")
log.info("low")
log.removeHandler(handler)
said = stream.getvalue()
# %% ins
log.setLevel(logging.INFO)
