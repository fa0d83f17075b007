"""torch was imported between the runs: settings that were not there do not differ.

run: setup q imp q
ask: q
probe: n
changed: yes
expect: rng python 2
"""
# %% setup
import random
random.seed(0)
# %% q
n = random.random()
# %% imp
import torch
