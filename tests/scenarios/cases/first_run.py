"""The cell ran once; there is nothing to hold it against.

run: setup train
ask: train
probe: out
changed: no
verdict: first-run
"""
# %% setup
import random
# %% train
out = random.random()
