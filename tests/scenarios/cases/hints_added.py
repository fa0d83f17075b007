"""The cell's function got a docstring and hints; numpy's generator has moved on.

run: setup draw draw@2
ask: draw
probe: v
changed: yes
expect: rng numpy 2
innocent: code draw
"""
# %% setup
import numpy as np
np.random.seed(2)
# %% draw
def jitter(x, s):
    return x + s * np.random.randn(len(x))
v = jitter(np.zeros(4), 0.1).tolist()
# %% draw@2
def jitter(x: np.ndarray, s: float) -> np.ndarray:
    """Add noise of standard deviation s."""
    return x + s * np.random.randn(len(x))
v: list = jitter(np.zeros(4), 0.1).tolist()
