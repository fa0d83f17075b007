"""A list is sorted elsewhere, which the cell sorts itself; identifiers are made again each time.

run: setup label mix label
ask: label
probe: labels
changed: yes
expect: entropy uuid
innocent: input names
"""
# %% setup
import uuid
names = ["tea", "coffee", "milk"]
class Label:
    def __init__(self, name):
        self.name, self.key = name, uuid.uuid4().hex
# %% label
labels = [Label(name).key for name in sorted(set(names)) if name in names]
print(labels, len(names))
# %% mix
names.sort(key=len)
