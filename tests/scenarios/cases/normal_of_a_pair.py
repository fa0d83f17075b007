"""np.random.normal gives the second value of a pair that it kept, and then draws again.

run: setup first draw draw
ask: draw
probe: x
changed: yes
expect: rng numpy 3
says: In[3] drew from it
"""
# %% setup
import numpy as np
np.random.seed(0)
# %% first
y = np.random.normal()
# %% draw
x = np.random.normal()
