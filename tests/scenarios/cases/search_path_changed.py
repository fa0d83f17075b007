"""A cell changes where modules are found, and another module of the name is imported.

run: setup load move load
ask: load
probe: out
changed: yes
expect: file helpers_of_two.py 3
"""
# %% setup
import sys
from pathlib import Path
for folder, rate in (("one", 1), ("two", 2)):
    Path(folder).mkdir(exist_ok=True)
    Path(folder, "helpers_of_two.py").write_text(f"RATE = {rate}\n")
sys.path.insert(0, str(Path("one").resolve()))
# %% load
import importlib
import helpers_of_two
out = helpers_of_two.RATE
print(out)
# %% move
sys.path.insert(0, str(Path("two").resolve()))
sys.modules.pop("helpers_of_two", None)
