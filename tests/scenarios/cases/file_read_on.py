"""An open file is read on from where the first run left it.

run: write open read read
ask: read
probe: line
changed: yes
expect: input f 3
"""
# %% write
from pathlib import Path
_ = Path("log.txt").write_text("one\ntwo\nthree\n")
# %% open
f = open("log.txt")
# %% read
line = f.readline()
