"""Another folder was added where modules are looked for, and the cell's module is where it was.

run: setup q !restart setup path add q
ask: q
probe: n
changed: yes
expect: input data 5
"""
# %% setup
import os
import sys
with open("helper_of_q.py", "w") as file:
    size = file.write("N = 1")
sys.path.insert(0, os.getcwd())
data = [1]
# %% path
os.makedirs("two", exist_ok=True)
sys.path.append(os.path.abspath("two"))
# %% add
data.append(2)
# %% q
import helper_of_q
n = helper_of_q.N + sum(data)
