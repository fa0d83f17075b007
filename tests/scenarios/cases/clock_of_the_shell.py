"""A shell command reads the clock, and the cell keeps what it said.

run: setup stamp stamp
ask: stamp
probe: said
changed: yes
expect: entropy date
"""
# %% setup
import os
# %% stamp
said = !date +%s%N
