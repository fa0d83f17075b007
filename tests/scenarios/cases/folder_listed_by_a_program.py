"""A program lists a folder, to which a file was added.

run: setup list add list
ask: list
probe: names
changed: yes
expect: file data 3
"""
# %% setup
import os
os.makedirs("data")
open("data/a.csv", "w").close()
# %% list
names = !ls -1 data | sort
# %% add
open("data/b.csv", "w").close()
