"""An identifier seeds a generator, and the data were changed.

run: setup q ch q
ask: q
probe: m
changed: yes
expect: entropy uuid
expect: input k 3
"""
# %% setup
import uuid, random
k = 1
# %% q
rng = random.Random(uuid.uuid4().int)
m = rng.random() * k
# %% ch
k = 2
