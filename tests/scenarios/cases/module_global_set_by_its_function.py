"""A function of a module of the user's set a global of it, in a cell between.

run: write setup use debug use
ask: use
probe: rows
changed: yes
expect: input settings._debug 4
"""
# %% write
from pathlib import Path
_ = Path("settings.py").write_text(
    "_debug = False\n"
    "def debug(on=True):\n"
    "    global _debug\n"
    "    _debug = on\n"
    "def rows():\n"
    "    return 3 if _debug else 1000\n"
)
# %% setup
import settings
# %% use
rows = settings.rows()
# %% debug
settings.debug()
