"""An import that the cell does not use was removed, and its data changed.

run: setup use change use@2
ask: use
probe: out
changed: yes
expect: input data 3
innocent: code use
"""
# %% setup
data = [1, 2]
# %% use
import json
import math
from typing import Any
out = math.fsum(data)
# %% change
data.append(3)
# %% use@2
import math
out = math.fsum(data)
