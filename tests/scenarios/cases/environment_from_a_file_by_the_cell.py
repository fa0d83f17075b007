"""Another cell rewrote the .env file; override cancels what was set before.

run: write use rewrite use
ask: use
probe: n_flagged
changed: yes
expect: file settings.env 3
"""
# %% write
%%writefile settings.env
THRESHOLD=0.5
REGION=eu
# %% use
import os
import numpy as np
from dotenv import load_dotenv
load_dotenv("settings.env", override=True)
scores = np.linspace(0, 1, 21)
n_flagged = int((scores > float(os.environ["THRESHOLD"])).sum())
n_flagged
# %% rewrite
%%writefile settings.env
THRESHOLD=0.9
REGION=eu
