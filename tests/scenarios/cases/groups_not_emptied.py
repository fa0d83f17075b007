"""Items are grouped in a dictionary that was not emptied.

run: setup compute compute
ask: compute
probe: out
changed: yes
expect: input groups 2
"""
# %% setup
groups = {}
def add(key, value):
    if key not in groups:
        groups[key] = []
    groups[key].append(value)
    return groups[key]
# %% compute
out = len(add("a", 1))
