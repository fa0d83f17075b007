"""%autoreload 2 picks up an edit of utils.py.

run: write setup run edit run
ask: run
probe: out
changed: yes
expect: input train_utils.smooth 4 or input smooth 4
allow: file train_utils.py
"""
# %% write
from pathlib import Path
Path('train_utils.py').write_text('def smooth(xs, k=0.5):\n    out = [xs[0]]\n    for x in xs[1:]:\n        out.append(k * out[-1] + (1 - k) * x)\n    return out\n');
# %% setup
%load_ext autoreload
%autoreload 2
from train_utils import smooth
# %% run
out = smooth([1.0, 2.0, 4.0])[-1]
# %% edit
import time; time.sleep(1.1)
Path('train_utils.py').write_text('def smooth(xs, k=0.9):\n    out = [xs[0]]\n    for x in xs[1:]:\n        out.append(k * out[-1] + (1 - k) * x)\n    return out\n');
