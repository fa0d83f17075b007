"""A name of a user class was bound to a subclass; the steps in a list became a tuple with the same numbers.

run: setup run_ other run_
ask: run_
probe: v
changed: yes
expect: input Noise 3
innocent: input ks
"""
# %% setup
import math
class Linear:
    def at(self, k): return 0.1 * k
class Cosine(Linear):
    def at(self, k): return 0.5 * (1 - math.cos(0.1 * k))
Noise = Linear
ks = [1, 2, 5]
# %% run_
sch = Noise()
v = [round(sch.at(k), 6) for k in ks]
# %% other
Noise = Cosine
ks = tuple(ks)
