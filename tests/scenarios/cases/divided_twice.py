"""The cell divides what it divided before.

run: setup normalize normalize
ask: normalize
probe: X.tolist()
changed: yes
expect: input X 2
"""
# %% setup
import numpy as np
X = np.array([0.0, 128.0, 255.0])
# %% normalize
X = X / 255
