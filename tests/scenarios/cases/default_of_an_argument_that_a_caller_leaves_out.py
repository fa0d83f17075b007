"""A helper's default was edited; the cell gives the argument, and another helper leaves it out.

run: helper more draw helper@2 draw
ask: draw
probe: numbers
changed: yes
expect: input draw_from 4
"""
# %% helper
import random
def draw_from(count, seed=1):
    return [random.Random(seed).random() for _ in range(count)]
# %% helper@2
import random
def draw_from(count, seed=2):
    return [random.Random(seed).random() for _ in range(count)]
# %% more
def also(count):
    return draw_from(count)
# %% draw
numbers = draw_from(3, seed=8) + also(2)
