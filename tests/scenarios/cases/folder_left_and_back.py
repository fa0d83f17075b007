"""The folder was changed and changed back; the file was written again.

run: setup q ins back write q
ask: q
probe: n
changed: yes
expect: file data.txt 5
"""
# %% setup
import os
os.makedirs("old", exist_ok=True)
size = open("data.txt", "w").write("1")
# %% q
n = len(open("data.txt").read())
# %% ins
os.chdir("old")
# %% back
os.chdir("..")
# %% write
with open("data.txt", "w") as file:
    size = file.write("22")
