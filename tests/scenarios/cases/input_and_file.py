"""The file changed, and so did the factor.

run: write read write@2 edit read
ask: read
probe: total
changed: yes
expect: file values.txt
expect: input factor 4
"""
# %% write
from pathlib import Path
factor = 1
_ = Path("values.txt").write_text("1 2 3")
# %% write@2
_ = Path("values.txt").write_text("1 2 4")
# %% edit
factor = 10
# %% read
total = factor * sum(map(int, Path("values.txt").read_text().split()))
