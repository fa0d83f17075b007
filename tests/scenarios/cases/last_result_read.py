"""The cell goes on from the last result shown, which another cell made.

run: setup show use other use
ask: use
probe: twice
changed: yes
expect: input _ 4
"""
# %% setup
x = 3
# %% show
x
# %% other
x + 1
# %% use
twice = _ * 2
