"""The cell combines flags, which leaves a pseudo-member in the enum; random's state is what differs.

run: imports cls use use
ask: use
probe: out
changed: yes
expect: rng python 3
"""
# %% imports
import random
from enum import Flag, auto
random.seed(0)
# %% cls
class Opt(Flag):
    FLIP = auto()
    CROP = auto()
    NOISE = auto()
def augment(x, opt):
    return x + random.gauss(0, 1) if Opt.NOISE in opt else x
# %% use
out = augment(1.0, Opt.FLIP | Opt.NOISE)
out
