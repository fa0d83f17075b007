"""What the cell draws is thrown away or sorted again; the offset changed.

run: setup pick change pick
ask: pick
probe: out
changed: yes
expect: input offset 3
allow: rng numpy
innocent: rng python
"""
# %% setup
import random
import numpy as np
random.seed(0)
np.random.seed(0)
names, offset = ["b", "c", "a"], 1
# %% pick
_ = random.random()
random.shuffle(names)
names.sort()
mixed = np.random.permutation(6)
out = [*names, *(np.sort(mixed) + offset).tolist()]
# %% change
offset = 2
