"""The folder was changed by a magic: the file of the same name there differs.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: file data.txt 3
says: `data.txt` is now `old/data.txt`
"""
# %% setup
import os
os.makedirs("old", exist_ok=True)
for path, text in (("data.txt", "1"), ("old/data.txt", "22")):
    with open(path, "w") as file:
        size = file.write(text)
# %% q
n = len(open("data.txt").read())
# %% ins
%cd -q old
