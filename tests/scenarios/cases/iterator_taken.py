"""The cell takes the next items of an iterator.

run: setup take take
ask: take
probe: chunk
changed: yes
expect: input lines 2
"""
# %% setup
lines = iter("abcdefgh")
# %% take
chunk = [next(lines) for _ in range(3)]
