"""The cell stops after a time that it does not reach; its data were changed.

run: setup score add score
ask: score
probe: out
changed: yes
expect: input data 3
innocent: entropy time.time
"""
# %% setup
import time
data, limit = [1.0, 2.0], 60
# %% score
deadline = time.time() + limit
out = 0
for x in data:
    if time.time() > deadline:
        break
    out += x
# %% add
data.append(3.0)
