"""The data is loaded again; the cell that scales it is forgotten, and one that centres it is run.

run: load scale centre fit load centre fit
ask: fit
probe: mean
changed: yes
expect: input x 5
says: In[5] made `x` again; then In[6] changed it
says: In[2], which changed it, has not been run since
"""
# %% load
import numpy as np
x = np.arange(12.0).reshape(4, 3) ** 2
# %% scale
x /= x.max(axis=0)
# %% centre
x -= x.mean()
# %% fit
mean = float((x**2).mean())
