"""A link to a folder is moved to another folder, in which the file has other content.

run: setup read move read
ask: read
probe: total
changed: yes
expect: file data.txt 3
says: In[3]
"""
# %% setup
import os
from pathlib import Path
for name, text in (("v1", "1 2"), ("v2", "3 4")):
    Path(name).mkdir(exist_ok=True)
    Path(name, "data.txt").write_text(text)
os.symlink("v1", "current")
# %% read
total = sum(map(int, Path("current", "data.txt").read_text().split()))
print(total)
# %% move
os.unlink("current")
os.symlink("v2", "current")
