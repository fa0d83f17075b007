"""The cell counts the files of a folder, and there is one more.

run: setup count save count
ask: count
probe: n
changed: yes
expect: file out 3
"""
# %% setup
import os, glob
os.makedirs("out", exist_ok=True)
open("out/a.txt", "w").close()
# %% count
n = len(glob.glob("out/*.txt"))
# %% save
open("out/b.txt", "w").write("x")
