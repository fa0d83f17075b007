"""The cell reads the last of the results that were shown.

run: setup show use other use
ask: use
probe: out
changed: yes
expect: input Out 4
"""
# %% setup
x = 3
# %% show
x
# %% other
x + 1
# %% use
out = list(Out.values())[-1] * 2
