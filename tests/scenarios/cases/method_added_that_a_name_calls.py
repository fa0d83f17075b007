"""A method was edited that is called by a name put together in the cell; a draw moved on as well.

run: setup part go part@2 go
ask: go
probe: out
changed: yes
expect: input Meter
expect: rng python
"""
# %% setup
import random
random.seed(0)
kind = "mean"
# %% part
class Meter:
    def of_mean(self, x): return sum(x) / len(x)
    def of_sum(self, x): return sum(x)
# %% part@2
class Meter:
    def of_mean(self, x): return sum(x) / len(x) + 1
    def of_sum(self, x): return sum(x)
# %% go
out = getattr(Meter(), f"of_{kind}")([random.random(), 2.0])
