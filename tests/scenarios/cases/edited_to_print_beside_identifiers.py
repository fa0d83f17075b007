"""A cell was edited to print how many it made; the identifiers that it makes are new each time.

run: setup order order@2
ask: order
probe: keys
changed: yes
expect: code order
expect: entropy uuid
"""
# %% setup
import uuid
items = ["tea", "milk"]
# %% order
keys = [uuid.uuid4().hex for _ in items]
# %% order@2
keys = [uuid.uuid4().hex for _ in items]
print(len(keys), "made")
