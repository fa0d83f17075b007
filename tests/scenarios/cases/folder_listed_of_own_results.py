"""The cell counts the files that its own runs write; the rate changed.

run: setup n ch n
ask: n
probe: s
changed: yes
expect: input lr 3
"""
# %% setup
import os
os.makedirs("runs", exist_ok=True)
lr = 0.1
# %% n
k = len(os.listdir("runs"))
s = lr * 3
open(f"runs/{k}.txt", "w").write(str(s));
# %% ch
lr = 0.2
