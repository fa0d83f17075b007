"""A folder that a library makes and removes has another name in each run, and is no file it read.

run: setup show digits show
ask: show
probe: text
changed: yes
expect: flag numpy.set_printoptions 3
"""
# %% setup
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
x = np.array([1 / 3])
fig = plt.figure(figsize=(1, 1))
# %% show
FuncAnimation(fig, lambda frame: [], frames=1).to_jshtml()
text = str(x)
# %% digits
np.set_printoptions(precision=2)
