"""The script that the cell runs by subprocess was edited.

run: setup q ins q
ask: q
probe: said
changed: yes
expect: file prep.py 3
"""
# %% setup
import subprocess, sys
size = open("prep.py", "w").write("print(1)")
def run(*words):
    return subprocess.run([sys.executable, *words], capture_output=True, text=True).stdout
# %% q
said = run("prep.py", "--fast")
# %% ins
with open("prep.py", "w") as file:
    file.write("print(2)")
