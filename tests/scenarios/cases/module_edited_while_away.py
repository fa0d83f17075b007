"""A module that the cell imports was edited between the kernels.

run: setup q !restart setup@2 q
ask: q
probe: n
changed: yes
expect: file helper_of_q.py
"""
# %% setup
import sys
with open("helper_of_q.py", "w") as file:
    size = file.write("N = 1")
sys.path.insert(0, "")
# %% setup@2
import sys
with open("helper_of_q.py", "w") as file:
    size = file.write("N = 22")
sys.path.insert(0, "")
# %% q
import helper_of_q
n = helper_of_q.N
