"""A result that nothing on record explains is appended to a list, which is all that differs.

run: setup work work
ask: work
probe: x
changed: yes
verdict: explained
allow: input history
allow: input seen
"""
# %% setup
import gc
history = []
seen = set()
# %% work
x = len(gc.get_objects())
history.append(x)
seen.add(x)
print(x)
