"""A script was edited that the cell only names in its arguments' folder; the data were changed.

run: setup q ins q
ask: q
probe: out
changed: yes
expect: input data 3
"""
# %% setup
import subprocess, sys
size = open("prep.py", "w").write("print(1)") + open("other.py", "w").write("print(1)")
data = [1]
# %% q
said = subprocess.run([sys.executable, "prep.py"], capture_output=True, text=True).stdout
out = int(said) + sum(data)
# %% ins
data.append(2)
with open("other.py", "w") as file:
    file.write("print(2)")
