"""A cached property was filled at random in one object, and again in the other; nothing else differs.

run: setup fill q setup fill q
ask: q
probe: n
changed: yes
expect: input d 5
"""
# %% setup
import random
from functools import cached_property
class Data:
    @cached_property
    def noise(self): return random.random()
d = Data()
# %% fill
d.noise
# %% q
n = d.noise
