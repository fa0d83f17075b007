"""Another cell saved other features under the same name.

run: save load save@2 load
ask: load
probe: total
changed: yes
expect: file features.npy
"""
# %% save
import numpy as np
np.save("features.npy", np.arange(4))
# %% save@2
import numpy as np
np.save("features.npy", np.arange(4)[::-1] * 2)
# %% load
total = int(np.load("features.npy").sum())
