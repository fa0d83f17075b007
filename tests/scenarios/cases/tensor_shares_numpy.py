"""The tensor shares its memory with an array that was changed.

run: setup add edit add
ask: add
probe: total
changed: yes
expect: input t 3
"""
# %% setup
import numpy as np, torch
a = np.zeros(4, dtype=np.float32)
t = torch.from_numpy(a)
# %% add
total = t.sum().item()
# %% edit
a[0] = 100
