"""A total adds up over the runs of the cell.

run: setup add add
ask: add
probe: total
changed: yes
expect: input total 2
"""
# %% setup
total, sales = 0, [3, 4]
# %% add
for sale in sales:
    total += sale
