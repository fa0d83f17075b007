"""Another cell shuffled with the same random.Random.

run: setup deal other deal
ask: deal
probe: hand
changed: yes
expect: rng dealer 2 3
"""
# %% setup
import random
dealer = random.Random(4)
cards = list(range(52))
# %% deal
hand = dealer.sample(cards, 5)
# %% other
coin = dealer.random()
