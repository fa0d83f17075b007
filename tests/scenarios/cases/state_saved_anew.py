"""A cell puts the source in a state that was kept, and another cell keeps a later one.

run: setup keep draw keep draw
ask: draw
probe: drawn
changed: yes
expect: input state 4
innocent: rng python
"""
# %% setup
import random
random.seed(5)
# %% keep
random.random()
state = random.getstate()
# %% draw
random.setstate(state)
drawn = [random.randint(1, 100) for _ in range(5)]
drawn
