"""The cell imports a module of the user's, in the first run only; the data were changed.

run: setup q add q
ask: q
probe: n
changed: yes
expect: input data 3
"""
# %% setup
import sys
with open("helper_of_q.py", "w") as file:
    size = file.write("N = 1")
sys.path.insert(0, "")
data = [1]
# %% q
import helper_of_q
n = helper_of_q.N + sum(data)
# %% add
data.append(2)
