"""The cell fills an array as a whole before it uses it; the factor changed.

run: setup f other f
ask: f
probe: s
changed: yes
expect: input k 3
innocent: input buf
"""
# %% setup
import numpy as np
buf = np.zeros(4)
k = 1
# %% f
buf[:] = 0
for i in range(4):
    buf[i] = i * k
s = float(buf.sum())
# %% other
k = 2
buf += 5
