"""The underscore is set by the cell before it is looked up; the data were changed.

run: setup show use other use
ask: use
probe: out
changed: yes
expect: input pairs 4
"""
# %% setup
pairs = [(1, 2), (3, 4)]
# %% show
len(pairs)
# %% other
pairs.append((5, 6)); len(pairs)
# %% use
out = 0
for _, right in pairs:
    out += right
    last = _
