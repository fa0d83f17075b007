"""The script that the cell runs by a shell command was edited.

run: setup q ins q
ask: q
probe: said
changed: yes
expect: file prep.py 3
"""
# %% setup
import sys
size = open("prep.py", "w").write("print(1)")
# %% q
said = !{sys.executable} prep.py
# %% ins
with open("prep.py", "w") as file:
    file.write("print(2)")
