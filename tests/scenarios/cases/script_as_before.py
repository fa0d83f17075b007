"""The script is as it was, and so is what it prints; the cell's data were changed.

run: setup q ins q
ask: q
probe: out
changed: yes
expect: input data 3
"""
# %% setup
import subprocess, sys
size = open("prep.py", "w").write("print(1)")
data = [1]
# %% q
said = subprocess.run([sys.executable, "prep.py"], capture_output=True, text=True).stdout
out = int(said) + sum(data)
# %% ins
data.append(2)
