"""A file on which a branch hangs is removed by a cell.

run: setup read drop read
ask: read
probe: total
changed: yes
expect: file cache.txt 3
says: In[3] removed `
"""
# %% setup
from pathlib import Path
Path("cache.txt").write_text("5")
# %% read
try:
    total = int(open("cache.txt").read())
except FileNotFoundError:
    total = 0
print(total)
# %% drop
Path("cache.txt").unlink()
