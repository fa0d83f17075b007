"""Another cell set a number in a module of a package.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input math.pi 3 or input math 3
allow: input math
"""
# %% setup
import math
# %% q
out = math.pi * 2
# %% other
math.pi = 3
