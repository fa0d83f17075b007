"""Clock and entropy are imported, but the cell does not ask them; a list grew.

run: setup count add count
ask: count
probe: n
changed: yes
expect: input rows 3
"""
# %% setup
import os, time, uuid
rows = [1, 2]
def stamp():
    return time.time(), uuid.uuid4(), os.urandom(2)
# %% count
n = len(rows)
# %% add
rows.append(stamp())
