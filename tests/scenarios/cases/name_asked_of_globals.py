"""The cell asks globals() for a name that after the restart is not there.

run: setup tmp use !restart setup use
ask: use
probe: r
changed: yes
expect: input bonus
"""
# %% setup
base = 1
# %% tmp
bonus = 5
# %% use
r = base + globals().get("bonus", 0)
