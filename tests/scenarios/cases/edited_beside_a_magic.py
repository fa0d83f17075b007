"""A number in a cell with a magic was edited, and its data changed.

run: setup use change use@2
ask: use
probe: out
changed: yes
expect: code use
expect: input data 3
"""
# %% setup
data = [1, 2]
# %% use
%time out = sum(data) * 2
# %% change
data.append(3)
# %% use@2
%time out = sum(data) * 3
