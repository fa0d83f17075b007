"""The cell tells how long it is since another cell began; its data were changed.

run: begin setup train begin add train
ask: train
probe: loss
changed: yes
expect: input data 5
innocent: input t0
innocent: entropy time.time
"""
# %% begin
import time
t0 = time.time()
# %% setup
data = [1.0, 2.0]
# %% train
loss = sum(data)
took = time.time() - t0
# %% add
data.append(3.0)
