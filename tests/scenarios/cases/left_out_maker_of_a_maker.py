"""After the restart the cell that drops rows was not run, on which the features hang.

run: setup drop make q !restart setup make q
ask: q
probe: out
changed: yes
expect: input features 2
says: has not been run since the restart
"""
# %% setup
rows = [1, -5, 3]
# %% drop
rows = [row for row in rows if row > 0]
# %% make
features = [row * 2 for row in rows]
# %% q
out = sum(features)
