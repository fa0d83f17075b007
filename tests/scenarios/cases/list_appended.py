"""Another cell appended to the list that the cell joins.

run: setup join add join
ask: join
probe: text
changed: yes
expect: input names 3
"""
# %% setup
names = ["ada", "bob"]
# %% join
text = ", ".join(names)
# %% add
names.append("cyd")
