"""An import of the user's own module, which may do anything as it is run, was added; data changed.

run: setup use change use@2
ask: use
probe: out
changed: yes
expect: code use
expect: input data 3
"""
# %% setup
from pathlib import Path
_ = Path("tuned.py").write_text("scale = 3\n")
data = [1, 2]
# %% use
out = sum(data)
# %% change
data.append(3)
# %% use@2
import tuned
out = sum(data)
