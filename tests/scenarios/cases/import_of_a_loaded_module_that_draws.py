"""A module draws when it is imported, once; the cell that imports it draws as well.

run: setup use use
ask: use
probe: x
changed: yes
expect: rng python
"""
# %% setup
import random
from pathlib import Path

random.seed(0)
Path("drawing.py").write_text("import random\nfirst = random.random()\n")
# %% use
import drawing

x = random.random()
