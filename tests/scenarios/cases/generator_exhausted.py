"""A generator gives its items once.

run: setup add add
ask: add
probe: total
changed: yes
expect: input squares 2
"""
# %% setup
squares = (i * i for i in range(10))
# %% add
total = sum(squares)
