"""Helpers have other names for a local variable; the data changed as well.

run: setup use change use
ask: use
probe: out
changed: yes
expect: input data 3
"""
# %% setup
def half(values):
    found = [each / 2 for each in values]
    return found
class Scale:
    def by(self, values):
        total = sum(values)
        return total * 3
data = [1, 2, 3]
# %% use
out = sum(half(data)) + Scale().by(data)
# %% change
def half(values):
    halves = [each / 2 for each in values]
    return halves
class Scale:
    def by(self, values):
        added = sum(values)
        return added * 3
data = [1, 2, 4]
