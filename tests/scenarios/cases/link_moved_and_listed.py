"""A link to a folder is moved to another folder, which holds other files.

run: setup names move names
ask: names
probe: found
changed: yes
expect: file current 3
"""
# %% setup
import os
from pathlib import Path
for name, count in (("v1", 2), ("v2", 3)):
    Path(name).mkdir(exist_ok=True)
    for number in range(count):
        Path(name, f"{number}.txt").write_text("x")
os.symlink("v1", "current")
# %% names
found = sorted(os.listdir("current"))
print(found)
# %% move
os.remove("current")
os.symlink("v2", "current", target_is_directory=True)
