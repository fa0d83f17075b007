"""A shell command of another cell wrote the file that the cell reads.

run: setup q other q
ask: q
probe: out
changed: yes
expect: file n.txt 3
"""
# %% setup
from pathlib import Path
Path("n.txt").write_text("3")
# %% q
out = int(open("n.txt").read())
# %% other
!echo 7 > n.txt
