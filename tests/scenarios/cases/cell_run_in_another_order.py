"""After the restart a cell that has no part in it was not run; the data were edited.

run: setup plot q !restart setup@2 q
ask: q
probe: out
changed: yes
expect: input data 4
"""
# %% setup
data = [1, 2]
# %% setup@2
data = [1, 3]
# %% plot
shown = [str(x) for x in data]
# %% q
out = sum(data)
