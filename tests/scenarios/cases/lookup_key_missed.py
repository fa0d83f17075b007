"""A word is in the dictionary now; the cell goes on where one is not.

run: setup q more q
ask: q
probe: out
changed: yes
expect: input prices
"""
# %% setup
prices = {"tea": 3, "milk": 2}
basket = ["tea", "bread", "milk"]
# %% q
out = 0
for each in basket:
    try:
        out += prices[each]
    except KeyError:
        pass
# %% more
prices["bread"] = 4
