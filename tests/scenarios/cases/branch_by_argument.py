"""A helper returns before it reads the table, as the limit that it is given decides.

run: setup use edit use
ask: use
probe: r
changed: yes
expect: input limit 3
"""
# %% setup
TABLE = {1: 10}
limit = 5
def look(v, limit):
    if v > limit:
        return v * 2 + limit
    return TABLE.get(v, 0)
# %% use
r = look(9, limit)
# %% edit
TABLE = {1: 11}; limit = 6
