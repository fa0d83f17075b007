"""One of forty lists got another number, and the cell finds them by a variable.

run: setup q more q
ask: q
probe: out
changed: yes
expect: input table
"""
# %% setup
table = {n: [n, n + 1] for n in range(40)}
# %% q
out = [sum(table[n]) for n in range(30, 40)]
# %% more
table[39][1] = 0
