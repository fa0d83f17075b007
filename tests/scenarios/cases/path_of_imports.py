"""After the restart another folder comes first where modules are looked for.

run: setup path q !restart setup path@2 q
ask: q
probe: n
changed: yes
expect: file helper_of_q.py
"""
# %% setup
import os
import sys
for folder, text in (("one", "N = 1"), ("two", "N = 2")):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/helper_of_q.py", "w") as file:
        size = file.write(text)
# %% path
sys.path.insert(0, os.path.abspath("one"))
# %% path@2
sys.path.insert(0, os.path.abspath("two"))
# %% q
import helper_of_q
n = helper_of_q.N
