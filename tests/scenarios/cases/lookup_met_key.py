"""A dictionary's value changed that the cell looks up by a variable.

run: setup q more q
ask: q
probe: out
changed: yes
expect: input prices
"""
# %% setup
prices = {"tea": 3, "milk": 2}
basket = ["tea", "tea", "milk"]
# %% q
out = sum(prices[each] for each in basket)
# %% more
prices["milk"] = 4
