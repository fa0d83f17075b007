"""A table was read at its first use, and another cell counts looks at it; random moved on.

run: imports cls write use peek use
ask: use
probe: out
changed: yes
expect: rng python 4
innocent: input table
"""
# %% imports
import random
random.seed(0)
# %% cls
class Table:
    def __init__(self, path):
        self.path = path
        self._rows = None
        self.hits = 0
    @property
    def rows(self):
        if self._rows is None:
            self._rows = [int(line) for line in open(self.path)]
        return self._rows
# %% write
with open('t.csv', 'w') as file:
    file.write('1\n2\n3\n')
table = Table('t.csv')
# %% use
out = sum(table.rows) + random.random()
out
# %% peek
table.hits += 1
print(table.rows[:2])
