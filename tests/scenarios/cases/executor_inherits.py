"""Forked processes draw from random, which Python seeds again in each; another cell drew from it.

run: setup q other q
ask: q
probe: out
changed: yes
verdict: unexplained
innocent: rng python
"""
# %% setup
import multiprocessing
import random
from concurrent.futures import ProcessPoolExecutor
random.seed(0)
def draw(i):
    return random.random() + i
# %% q
with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
    out = list(pool.map(draw, range(1)))
# %% other
noise = random.random()
