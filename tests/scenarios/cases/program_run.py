"""A helper runs another program, which answers differently.

run: setup name name
ask: name
probe: token
changed: yes
expect: entropy subprocess.check_output
"""
# %% setup
import subprocess
def stamp():
    return subprocess.check_output(["date", "+%s%N"], text=True)
# %% name
token = stamp()
