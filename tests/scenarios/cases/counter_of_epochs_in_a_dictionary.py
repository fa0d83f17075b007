"""A state dict counts epochs for the log; the loss comes of the weights that the cell makes, from a generator.

run: setup epoch epoch
ask: epoch
probe: loss
changed: yes
expect: rng rng 2
innocent: input state
innocent: input log
"""
# %% setup
import numpy as np
rng = np.random.default_rng(4)
state = {"epoch": 0, "name": "toy"}
log = []
# %% epoch
w = rng.normal(size=3)
loss = float((w ** 2).sum())
state["epoch"] += 1
log.append((state["epoch"], loss))
print(f"loss {loss:.3f}")
