"""The first run draws numbers and keeps them in a file, which the second one finds.

run: setup load load
ask: load
probe: made
changed: yes
expect: file kept.npy 2
innocent: rng numpy
"""
# %% setup
import os
import numpy as np
# %% load
made = 0
if not os.path.exists("kept.npy"):
    print("making it")
    made = 1
    np.save("kept.npy", np.random.rand(3))
x = np.load("kept.npy")
print(x.shape, made)
