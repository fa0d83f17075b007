"""A cell that speaks of a seed runs a program, and draws from what no one seeded.

run: draw edit !restart draw
ask: draw
probe: x
changed: yes
expect: rng numpy
"""
# %% draw
!true
import numpy as np  # a seed would help
x = np.random.rand()
# %% edit
y = 2
