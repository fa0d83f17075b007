"""A program is given the name of a folder that it does not list, to which a file was added.

run: setup say add say
ask: say
probe: out
changed: yes
expect: input times 3
"""
# %% setup
import os
times = 1
os.makedirs("data")
# %% say
words = !echo data
out = len(words) * times
# %% add
open("data/b.csv", "w").close()
times = 2
