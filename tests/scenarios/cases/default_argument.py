"""A default argument remembers what earlier calls put there.

run: setup collect collect
ask: collect
probe: out
changed: yes
expect: input remember 2
"""
# %% setup
def remember(item, seen=[]):
    seen.append(item)
    return list(seen)
# %% collect
out = remember("x")
