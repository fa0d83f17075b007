"""The cell times itself; what moved its result is the source.

run: setup seed train train
ask: train
probe: loss
changed: yes
expect: rng numpy 3
allow: entropy time.perf_counter
"""
# %% setup
import time
import numpy as np
# %% seed
np.random.seed(0)
# %% train
began = time.perf_counter()
loss = float(np.random.rand(100).mean())
print(f"loss {loss:.4f}")
seconds = time.perf_counter() - began
