"""A module beside the notebook was edited and loaded again.

run: write load use write@2 reload use
ask: use
probe: out
changed: yes
expect: input helpers.scale 5
"""
# %% write
from pathlib import Path
_ = Path("helpers.py").write_text("def scale(v):\n    return 2 * v\n")
# %% write@2
from pathlib import Path
_ = Path("helpers.py").write_text("def scale(v):\n    return v ** 30 + 1\n")
# %% load
import helpers
# %% use
out = helpers.scale(4)
# %% reload
import importlib
importlib.reload(helpers);
