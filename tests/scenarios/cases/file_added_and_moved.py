"""There is one more file in the folder that the cell reads, and a source moved.

run: setup n add n
ask: n
probe: total
changed: yes
expect: file c.txt 3
expect: rng numpy
"""
# %% setup
from pathlib import Path
import numpy as np
np.random.seed(0)
for n in "ab": Path(f"{n}.txt").write_text("1")
# %% n
vals = [int(p.read_text()) for p in sorted(Path(".").glob("*.txt"))]
total = float(np.random.rand() + sum(vals))
# %% add
Path("c.txt").write_text("5");
