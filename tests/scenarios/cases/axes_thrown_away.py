"""The cell throws results away under the underscore, as another does; the source moved.

run: setup show draw other draw
ask: draw
probe: out
changed: yes
expect: rng numpy 3
"""
# %% setup
import numpy as np
np.random.seed(0)
# %% show
np.arange(3)
# %% other
_ = print("other")
# %% draw
_ = print("draw")
out, _ = np.random.rand(2).tolist()
