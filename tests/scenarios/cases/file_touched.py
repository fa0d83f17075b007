"""The cell asks when a file was written, and another writes the same into it once more.

run: setup ask write ask
ask: ask
probe: written
changed: yes
expect: file data.csv 3
says: `data.csv` was written again, and this cell reads its time; In[3] wrote it
"""
# %% setup
import os
import time

open("data.csv", "w").write("a,b\n1,2\n")
# %% ask
written = os.path.getmtime("data.csv")
print(written)
# %% write
time.sleep(0.02)
open("data.csv", "w").write("a,b\n1,2\n")
