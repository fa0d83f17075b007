"""A link to a file is replaced by one to another file, by way of a rename.

run: setup read other move other read
ask: read
probe: total
changed: yes
expect: file data.txt 4
"""
# %% setup
import os
from pathlib import Path
Path("a.txt").write_text("1 2")
os.symlink("a.txt", "data.txt")
# %% read
total = sum(map(int, Path("data.txt").read_text().split()))
print(total)
# %% other
y = 1
# %% move
Path("b.txt").write_text("5 6")
os.symlink("b.txt", "next.txt")
os.replace("next.txt", "data.txt")
