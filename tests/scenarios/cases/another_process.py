"""The cell shows what another program says, which nothing here records.

run: setup ask ask
ask: ask
probe: said
changed: yes
verdict: unexplained
"""
# %% setup
import sys
program = "import time; print(time.time_ns())"
# %% ask
said = !{sys.executable} -c "{program}"
