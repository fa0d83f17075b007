"""A file changed that the cell does not read, and a number that it does.

run: write load edit load
ask: load
probe: steps
changed: yes
expect: input factor 3
"""
# %% write
import json
from pathlib import Path
_ = Path("config.json").write_text('{"steps": 3}')
_ = Path("notes.json").write_text('{"note": "first"}')
factor = 2
# %% load
steps = json.loads(Path("config.json").read_text())["steps"] * factor
# %% edit
_ = Path("notes.json").write_text('{"note": "second"}')
factor = 3
