"""A table and a factor were edited; a method that the cell does not call reads the table.

run: tables net use tables@2 use
ask: use
probe: out
changed: yes
expect: input factor 4
"""
# %% tables
table, factor = {"a": 1}, 2.0
# %% tables@2
table, factor = {"a": 5}, 3.0
# %% net
class Net:
    def __init__(self):
        self.seen = []
    def run(self, x):
        return x * factor
    def legend(self):
        return sorted(table.items())
net = Net()
# %% use
out = net.run(4)
