"""Numbers of 32 bits are halves of one of 64, and the second half was drawn from meanwhile.

run: setup draw draw
ask: draw
probe: x
changed: yes
expect: rng rng 2
"""
# %% setup
import numpy as np
rng = np.random.default_rng(0)
first = float(rng.random(dtype=np.float32))
# %% draw
x = float(rng.random(dtype=np.float32))
