"""A cell changes where modules are found; the other module bears the time of a run between.

run: setup load move load
ask: load
probe: out
changed: yes
expect: file helpers_of_two.py 3
"""
# %% setup
import os
import sys
import time
from pathlib import Path
for folder, rate in (("one", 1), ("two", 2)):
    Path(folder).mkdir(exist_ok=True)
    Path(folder, "helpers_of_two.py").write_text(f"RATE = {rate}\n")
soon = time.time() + 0.2
os.utime("two/helpers_of_two.py", (soon, soon))
sys.path.insert(0, str(Path("one").resolve()))
# %% load
import importlib
import time
import helpers_of_two
out = helpers_of_two.RATE
time.sleep(0.5)
print(out)
# %% move
sys.path.insert(0, str(Path("two").resolve()))
sys.modules.pop("helpers_of_two", None)
