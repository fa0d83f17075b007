"""The cell of an Enum is run again, and what was made before is a member of the former one.

run: kinds setup ask kinds ask
ask: ask
probe: out
changed: yes
expect: input current 4
says: is still an object of the old class Mode; In[4] redefined Mode
"""
# %% kinds
from enum import Enum
class Mode(Enum):
    READY = 1
    BUSY = 2
# %% setup
current = Mode.READY
# %% ask
out = 1 if current == Mode.READY else 0
print(out)
