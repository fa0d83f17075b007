"""The cell only shows a value, of data that grew.

run: setup show add show
ask: show
probe: sum(data)
changed: yes
expect: input data 3
"""
# %% setup
data = [1, 2, 3]
# %% show
sum(data) / len(data)
# %% add
data += [10]
