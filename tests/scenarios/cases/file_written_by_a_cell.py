"""The file was written again by another cell, which is named.

run: setup read other write read
ask: read
probe: n
changed: yes
expect: file data.txt 4
"""
# %% setup
from pathlib import Path
size = Path("data.txt").write_text("1 2")
# %% read
n = sum(map(int, Path("data.txt").read_text().split()))
# %% other
text = Path("data.txt").read_text()
# %% write
with open("data.txt", "a") as file:
    file.write(" 3")
