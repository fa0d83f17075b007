"""A helper runs another program, which is not recorded.

run: setup name name
ask: name
probe: token
changed: yes
verdict: unexplained
"""
# %% setup
import subprocess
def stamp():
    return subprocess.check_output(["date", "+%s%N"], text=True)
# %% name
token = stamp()
