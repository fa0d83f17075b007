"""A helper's default was edited of an argument that the cell gives, and another number was set.

run: helper count draw helper@2 count@2 draw
ask: draw
probe: numbers
changed: yes
expect: input count 5
innocent: input draw_from
"""
# %% helper
import random
def draw_from(count, seed=1):
    return [random.Random(seed).random() for _ in range(count)]
# %% helper@2
import random
def draw_from(count, seed=2):
    return [random.Random(seed).random() for _ in range(count)]
# %% count
count = 3
# %% count@2
count = 4
# %% draw
numbers = draw_from(count, seed=8)
