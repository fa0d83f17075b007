"""A closure's step counter went on, and its description changed.

run: make desc use desc@2 use
ask: use
probe: value
changed: yes
expect: input counter
innocent: input description
"""
# %% make
def make():
    n = 0
    def counter():
        nonlocal n
        n += 1
        return n
    return counter
counter = make()
# %% desc
description = "steps"
# %% desc@2
description = "the steps"
# %% use
value = counter() * 10
length = len(description) > 100
