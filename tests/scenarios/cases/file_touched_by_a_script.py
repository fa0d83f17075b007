"""A script is run that was written again with the same text; a source moved.

run: setup q other q
ask: q
probe: out
changed: yes
expect: rng python 2
"""
# %% setup
import random, subprocess, sys
random.seed(0)
size = open("prep.py", "w").write("print(1)")
# %% q
said = subprocess.run([sys.executable, "prep.py"], capture_output=True, text=True).stdout
out = random.random() + int(said)
# %% other
size = open("prep.py", "w").write("print(1)")
