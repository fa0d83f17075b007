"""torch's default dtype was switched, but the cell shuffles a list.

run: setup seed deal switch deal
ask: deal
probe: hand
changed: yes
expect: rng python 3
innocent: flag torch.default_dtype
"""
# %% setup
import random, torch
# %% seed
random.seed(1)
# %% deal
hand = random.sample(range(52), 5)
# %% switch
torch.set_default_dtype(torch.float64)
