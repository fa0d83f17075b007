"""A generator of the system's has no state that a seed could set.

run: setup draw draw
ask: draw
probe: out
changed: yes
expect: entropy random.SystemRandom
"""
# %% setup
import random
# %% draw
out = random.SystemRandom().random()
