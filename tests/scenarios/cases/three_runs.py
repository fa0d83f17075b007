"""The cell ran three times: the last is held against the second.

run: setup say say say
ask: say
probe: said
changed: yes
expect: rng python 3
"""
# %% setup
import random
random.seed(0)
words = "the cat sat on a mat".split()
# %% say
said = random.choices(words, k=12)
