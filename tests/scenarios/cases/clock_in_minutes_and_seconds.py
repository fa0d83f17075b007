"""A span of time is shown in minutes and seconds, and the data were changed.

run: setup train add train
ask: train
probe: loss
changed: yes
expect: input data 3
innocent: entropy time.time
"""
# %% setup
import time
data = [1.0, 2.0]
# %% train
begin = time.time()
loss = sum(data)
took = time.time() - begin
print(f"{int(took // 60)} min {took % 60:.6f} s, {loss}")
# %% add
data.append(3.0)
