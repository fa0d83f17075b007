"""A grid was made again of one row three times: the same numbers, and one list.

run: grid mark grid@2 mark
ask: mark
probe: total
changed: yes
expect: input grid 3
says: `grid` now holds one object in several places
"""
# %% grid
grid = [[0, 0] for _ in range(3)]
# %% grid@2
grid = [[0, 0]] * 3
# %% mark
grid[0][0] += 1
total = sum(row[0] for row in grid)
