"""A dictionary is emptied by the cell, and what makes its missing items was set elsewhere.

run: setup count other count
ask: count
probe: total
changed: yes
expect: input found 3
says: data other than its items
"""
# %% setup
from collections import defaultdict
found = defaultdict(int)
# %% count
found.clear()
total = found["a"] + 1
print(total)
# %% other
found.default_factory = lambda: 5
