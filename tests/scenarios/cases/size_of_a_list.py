"""The cell only counts a list; an item changed.

run: setup f other f
ask: f
probe: s
changed: yes
expect: input f 3
innocent: input names
"""
# %% setup
names = ["a", "b"]
f = 2
# %% f
s = len(names) * f
# %% other
names[0] = "zz"
f = 3
