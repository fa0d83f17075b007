"""What a function has kept was older than its data; then its cache was emptied.

run: setup use data use clear use
ask: use
probe: v
changed: yes
expect: input load 5
"""
# %% setup
from functools import lru_cache
data = [1, 2, 3]
@lru_cache
def load(k): return sum(data) * k
# %% data
data.append(10)
# %% clear
load.cache_clear()
# %% use
v = load(2)
