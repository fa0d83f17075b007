"""A method called clear, of a class of the notebook, that leaves what another cell set.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input log 3
expect: rng python
"""
# %% setup
import random
random.seed(0)
class Log:
    def __init__(self):
        self.rows, self.scale = [], 1
    def clear(self):
        self.rows = []
log = Log()
# %% q
log.clear()
log.rows.append(random.random() * log.scale)
out = log.rows[0]
# %% other
log.scale = 5
