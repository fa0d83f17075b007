"""The cell reads a slice of a long list; an item beside it changed, and numbers were drawn.

run: setup use other use
ask: use
probe: out
changed: yes
expect: rng python 2
innocent: input rows
"""
# %% setup
import random
random.seed(0)
rows = [[i] for i in range(500)]
# %% use
out = [row[0] + random.random() for row in rows[:50]]
# %% other
rows[70][0] = 3
