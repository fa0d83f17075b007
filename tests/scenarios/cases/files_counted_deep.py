"""The cell walks through folders and counts files; one was removed.

run: setup n rm n
ask: n
probe: total
changed: yes
expect: file img 3
"""
# %% setup
import os
from pathlib import Path
os.makedirs("img/a", exist_ok=True)
for i in range(3): Path(f"img/a/{i}.txt").write_text(str(i))
# %% n
total = 0
for root, dirs, names in os.walk("img"):
    total += len(names)
# %% rm
os.remove("img/a/2.txt")
