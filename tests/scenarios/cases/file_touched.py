"""The file that the cell reads was touched, and written again as it was.

run: write read touch read
ask: read
probe: total
changed: no
"""
# %% write
import os
from pathlib import Path
path = Path("values.txt")
_ = path.write_text("1\n2\n3\n")
# %% read
total = sum(map(int, path.read_text().split()))
# %% touch
text = path.read_text()
_ = path.write_text(text)
os.utime(path, (1, 1))
