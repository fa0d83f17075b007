"""The cell keeps when it began: as a moment, as text, in a list and a dictionary, and an address.

run: setup train train
ask: train
probe: loss
changed: no
"""
# %% setup
import time
from datetime import datetime
data = [1.0, 2.0]
# %% train
started = datetime.now()
name = f"run-{started:%H%M%S.%f}"
times, history = [], {"data": 2}
for x in data:
    t = time.perf_counter()
    loss = sum(data)
    times.append(time.perf_counter() - t)
history["took"] = time.perf_counter() - t
key = id(data.copy())
