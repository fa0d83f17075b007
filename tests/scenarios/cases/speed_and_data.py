"""The cell tells how many items it took each second; its data were changed.

run: setup score add score
ask: score
probe: out
changed: yes
expect: input data 3
innocent: entropy time.perf_counter
"""
# %% setup
import time
data = [1.0, 2.0]
# %% score
begun = time.perf_counter()
out = sum(data)
speed = len(data) / (time.perf_counter() - begun)
print(f"{speed:.0f} items/s")
# %% add
data.append(3.0)
