"""A result that nothing on record explains is appended to a list, which explains nothing either.

run: setup work work
ask: work
probe: x
changed: yes
verdict: unexplained
innocent: input history
innocent: input seen
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
