"""A global step counter goes on from run to run, for the log only; the batch came of python's random.

run: setup step step
ask: step
probe: loss
changed: yes
expect: rng python 2
innocent: input global_step
innocent: input log
"""
# %% setup
import random
random.seed(0)
data = [(x, 3 * x + 1) for x in range(50)]
global_step = 0
log = {}
# %% step
batch = random.sample(data, 8)
loss = sum((2 * x - t) ** 2 for x, t in batch) / len(batch)
global_step += 1
log[global_step] = loss
print(f"loss {loss:.3f}")
