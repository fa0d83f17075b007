"""The module's file was edited, but the function in use is still the old one.

run: write load use write@2 use
ask: use
probe: out
changed: no
"""
# %% write
from pathlib import Path
_ = Path("helpers.py").write_text("def scale(v):\n    return 2 * v\n")
# %% write@2
from pathlib import Path
_ = Path("helpers.py").write_text("def scale(v):\n    return v ** 30 + 1\n")
# %% load
from helpers import scale
# %% use
out = scale(4)
