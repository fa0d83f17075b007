"""A saved state is put into a fresh numpy generator in the cell; another cell had saved a later one.

run: imports save use save use
ask: use
probe: xs
changed: yes
expect: input state 4
"""
# %% imports
import numpy as np
rng = np.random.default_rng(3)
# %% save
warm = rng.normal(size=4)
state = rng.bit_generator.state
# %% use
r = np.random.default_rng()
r.bit_generator.state = state
xs = r.integers(0, 99, 4).tolist()
xs
