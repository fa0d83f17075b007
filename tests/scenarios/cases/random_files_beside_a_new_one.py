"""A random choice of images is read and a figure was saved into the same folder meanwhile; numpy's state is what differs.

run: imports write use save use
ask: use
probe: pick
changed: yes
expect: rng numpy 3
"""
# %% imports
import os
import numpy as np
from pathlib import Path
np.random.seed(5)
root = Path('run1'); root.mkdir(exist_ok=True)
# %% write
for i in range(20):
    np.save(root / f'img_{i:02}.npy', np.full(3, i))
    os.utime(root / f'img_{i:02}.npy', (1e9, 1e9))  # long before the cell runs
# %% use
files = sorted(root.glob('*.npy'))
pick = [np.load(p).tolist() for p in np.random.permutation(files)[:3]]
pick
# %% save
(root / 'fig.png').write_bytes(b'png');
