"""A library reads a variable of the environment, which the cell does not name; a cell changed it.

run: imports width set other width
ask: width
probe: wide
changed: yes
expect: environment COLUMNS 3
says: In[3] changed the environment variable `COLUMNS`
root: In[3] changed the environment variable `COLUMNS`
back: complete
"""
# %% imports
import os, shutil
os.environ["COLUMNS"] = "80"
# %% width
wide = shutil.get_terminal_size().columns
# %% set
os.environ["COLUMNS"] = "120"
# %% other
size = 3
