"""A shared array is given as ``out``: what it held does not act, what is multiplied does.

run: imp mk use ch use
ask: use
probe: s
changed: yes
expect: input a 4
innocent: input buf
"""
# %% imp
import numpy as np
# %% mk
a = np.arange(4.0); buf = np.zeros(4)
# %% use
np.multiply(a, 2, out=buf)
s = float(buf.sum())
# %% ch
a *= 3; buf += 100
