"""A number of the clock is added to the data's sum, and the data were changed.

run: setup score add score
ask: score
probe: out
changed: yes
expect: input data 3
expect: entropy time.time_ns
"""
# %% setup
import time
data = [1.0, 2.0]
# %% score
out = sum(data) + time.time_ns() % 10**12
# %% add
data.append(3.0)
