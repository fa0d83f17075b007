"""The cell runs a program that tells the time, and reads an object of C code, which is innocent.

run: setup q q
ask: q
probe: out
changed: yes
verdict: unexplained
says: `root` cannot be inspected
"""
# %% setup
import subprocess
import xml.etree.ElementTree as ET
root = ET.fromstring("<a><b/></a>")
# %% q
out = subprocess.check_output(["date", "+%s%N"], text=True) + str(len(root))
