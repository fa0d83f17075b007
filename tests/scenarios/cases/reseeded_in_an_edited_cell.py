"""The cell seeds before it draws, in both of its texts; another number in it was edited.

run: setup use use@2
ask: use
probe: (v, w)
changed: yes
expect: code use
innocent: rng python
"""
# %% setup
import random
# %% use
random.seed(2); v = random.random(); w = 1
# %% use@2
random.seed(2); v = random.random(); w = 2
