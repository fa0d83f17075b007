"""The cell itself makes and removes a folder each time: that took no file away from it.

run: setup work restyle work
ask: work
probe: total
changed: yes
expect: input rows 3
"""
# %% setup
import os
import shutil

rows = [1, 2, 3]
# %% work
os.makedirs("scratch")
with open("scratch/rows.txt", "w") as file:
    print(*rows, file=file)
total = sum(map(int, open("scratch/rows.txt").read().split()))
shutil.rmtree("scratch")
# %% restyle
rows = [1, 2, 30]
os.makedirs("other")
shutil.rmtree("other")
