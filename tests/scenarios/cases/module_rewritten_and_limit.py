"""A helper module was edited on disk and reloaded; a constant of the notebook changed that it does not read.

run: write load const work write@2 load const@2 work
ask: work
probe: out
changed: yes
expect: input myhelp.scale
allow: input LIMIT
allow: file myhelp.py
allow: input myhelp
"""
# %% write
from pathlib import Path
Path("myhelp.py").write_text("def scale(x):\n    return [2 * v for v in x]\n")
# %% write@2
from pathlib import Path
Path("myhelp.py").write_text("def scale(x):\n    return [3 * v for v in x]  # more\n")
# %% load
import importlib, sys
sys.path.insert(0, ".")
import myhelp
myhelp = importlib.reload(myhelp)
# %% const
LIMIT = 10
# %% const@2
LIMIT = 20
# %% work
out = sum(myhelp.scale([1, 2, 3]))
big = out > LIMIT * 100
