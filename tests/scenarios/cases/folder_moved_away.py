"""The folder of a file on which a branch hangs is moved away by a cell.

run: setup read drop read
ask: read
probe: total
changed: yes
expect: file kept 3
says: In[3] moved or removed kept
"""
# %% setup
import shutil
from pathlib import Path
Path("kept").mkdir()
Path("kept", "total.txt").write_text("5")
# %% read
try:
    total = int(Path("kept", "total.txt").read_text())
except FileNotFoundError:
    total = 0
print(total)
# %% drop
shutil.move("kept", "elsewhere")
