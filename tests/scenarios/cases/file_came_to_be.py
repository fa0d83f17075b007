"""The cell asks whether a file exists, which another cell wrote.

run: setup start save start
ask: start
probe: mode
changed: yes
expect: file ckpt 3
"""
# %% setup
from pathlib import Path
# %% start
mode = "resume" if Path("ckpt.txt").exists() else "fresh"
# %% save
Path("ckpt.txt").write_text("1");
