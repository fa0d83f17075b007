"""The module was reloaded unchanged, which set its counter back.

run: write imports use reload use
ask: use
probe: name
changed: yes
expect: input naming._count 4
says: naming._count had changed: 2 → 0; In[4] reloaded its module
"""
# %% write
%%writefile naming.py
_count = 0
PREFIX = 'run'

def next_name():
    global _count
    _count += 1
    return f'{PREFIX}{_count}'
# %% imports
import importlib
import naming
a = naming.next_name(); b = naming.next_name()
# %% use
name = naming.next_name()
name
# %% reload
importlib.reload(naming);
