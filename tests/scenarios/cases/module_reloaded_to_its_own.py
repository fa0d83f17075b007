"""The module was reloaded unchanged, which set its counter back.

run: write imports use reload use
ask: use
probe: name
changed: yes
expect: input naming._count 4
says: In[4] reloaded the module of `naming._count`: 2 → 0
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
