"""The cell was sent to another file, which was there all the time.

run: write read switch read
ask: read
probe: text
changed: yes
expect: input path 3
innocent: file b.txt
"""
# %% write
from pathlib import Path
_ = Path("a.txt").write_text("a"), Path("b.txt").write_text("b")
path = "a.txt"
# %% read
with open(path) as file:
    text = file.read()
# %% switch
path = "b.txt"
