"""A file of the same name was read in another folder, into which another cell changed.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: file data.txt 3
"""
# %% setup
import os
os.makedirs("old", exist_ok=True)
open("data.txt", "w").write("1"); open("old/data.txt", "w").write("22");
# %% q
n = len(open("data.txt").read())
# %% ins
os.chdir("old")
