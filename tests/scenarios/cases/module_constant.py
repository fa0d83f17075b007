"""A constant of a local module was set from the notebook.

run: write load use set use
ask: use
probe: out
changed: yes
expect: input helpers.FACTOR 4
"""
# %% write
from pathlib import Path
_ = Path("helpers.py").write_text("FACTOR = 2\ndef scale(v):\n    return FACTOR * v\n")
# %% load
import helpers
# %% use
out = helpers.scale(4)
# %% set
helpers.FACTOR = 5
