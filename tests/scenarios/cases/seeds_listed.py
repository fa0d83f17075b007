"""Experiments over a list of seeds, each its own generator; a seed was added.

run: setup repeat add repeat
ask: repeat
probe: scores
changed: yes
expect: input seeds 3
innocent: rng numpy
"""
# %% setup
import numpy as np
seeds = [0, 1]
# %% repeat
scores = [np.random.default_rng(seed).normal() for seed in seeds]
# %% add
seeds.append(2)
np.random.rand(3);
