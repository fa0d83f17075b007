"""A function of the notebook reseeds a source, which is no library's doing.

run: setup draw prepare draw
ask: draw
probe: x
changed: yes
expect: rng python 3
says: In[3] seeded Python's `random` with 5, not with 1
"""
# %% setup
import random
def fix_all(n):
    random.seed(n)
random.seed(1)
# %% draw
x = random.random()
print(x)
# %% prepare
fix_all(5)
