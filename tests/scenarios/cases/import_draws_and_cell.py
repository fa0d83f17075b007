"""What the cell imports draws a number, and so does the cell, from a source no one seeded.

run: draw !restart draw
ask: draw
probe: x
changed: yes
expect: rng python
kernel: cold
"""
# %% draw
import random
import rich.style
x = random.random()
