"""The cell reads a result by its number, which after the restart is that of another cell.

run: setup show use !restart setup other use
ask: use
probe: out
changed: yes
expect: input _2 5
"""
# %% setup
x = 3
# %% show
[x, x]
# %% other
[x, 1]
# %% use
out = sum(Out[2])
