"""A sample of a buffer that grew, drawn from a source that moved on.

run: setup step step
ask: step
probe: batch
changed: yes
expect: input buffer 2
expect: rng python 2
"""
# %% setup
import random
from collections import deque
random.seed(0)
buffer = deque(range(20), maxlen=20)
# %% step
buffer.append(100)
batch = random.sample(buffer, 8)
