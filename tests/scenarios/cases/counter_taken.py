"""An endless counter goes on, in the cell and in another.

run: setup name skip name
ask: name
probe: label
changed: yes
expect: input ids 3
"""
# %% setup
import itertools
ids = itertools.count(1)
# %% name
label = f"run-{next(ids)}"
# %% skip
skipped = next(ids)
