"""Another cell set which rights new files do not get, and the cell tells those of one.

run: setup q ins q
ask: q
probe: mode
changed: yes
expect: flag os.umask 3
"""
# %% setup
import os
before = os.umask(0o022)
# %% q
if os.path.exists("new"):
    os.unlink("new")
os.close(os.open("new", os.O_CREAT | os.O_WRONLY, 0o666))
mode = os.stat("new").st_mode
# %% ins
before = os.umask(0o077)
