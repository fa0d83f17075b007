"""A module was edited, and %autoreload loads it before the cell.

run: setup use edit use
ask: use
probe: r
changed: yes
expect: input mymod or input mymod.f or file mymod.py 3
"""
# %% setup
%load_ext autoreload
%autoreload 2
from pathlib import Path
import sys; sys.dont_write_bytecode = True
Path("mymod.py").write_text("def f(x):\n    return x + 1\n")
import mymod
# %% use
r = mymod.f(1)
# %% edit
import time; time.sleep(1.1)
Path("mymod.py").write_text("def f(x):\n    return x + 100\n");
