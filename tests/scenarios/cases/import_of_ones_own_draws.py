"""A module of the user's own draws as it is imported, and the cell uses what it drew.

run: setup draw !restart setup draw
ask: draw
probe: x
changed: yes
expect: rng python
allow: input *
kernel: cold
"""
# %% setup
from pathlib import Path
Path("chosen.py").write_text("import random\nnumber = random.random()");
# %% draw
import chosen
x = chosen.number
