"""Results go to a folder named by the hour, with a random name; the data were changed.

run: setup score add score
ask: score
probe: out
changed: yes
expect: input data 3
innocent: entropy datetime.datetime.now
"""
# %% setup
import os
from datetime import datetime
from pathlib import Path
data = [1.0, 2.0]
root = Path("results")
# %% score
where = root / datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")
where.mkdir(parents=True)
out = sum(data)
size = (where / "sum.txt").write_text(str(out))
# %% add
data.append(3.0)
