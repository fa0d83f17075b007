"""The script that the cell runs in the notebook was edited.

run: setup q ins q
ask: q
probe: answer
changed: yes
expect: file prep.py 3
"""
# %% setup
size = open("prep.py", "w").write("answer = 1")
# %% q
%run prep.py
# %% ins
with open("prep.py", "w") as file:
    file.write("answer = 2")
