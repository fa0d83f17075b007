"""A word is in the dictionary now; a function takes another price where it is not.

run: setup q more q
ask: q
probe: out
changed: yes
expect: input prices
"""
# %% setup
prices = {"tea": 3, "milk": 2}
basket = ["tea", "bread", "milk"]
def price(word):
    return prices.get(word, 1)
# %% q
out = sum(price(each) for each in basket)
# %% more
prices["bread"] = 4
