"""One of sixty prices differs, and the cell finds them by a variable.

run: setup q more q
ask: q
probe: out
changed: yes
expect: input prices
"""
# %% setup
prices = {f"item{n}": n for n in range(60)}
basket = ["item3", "item58"]
# %% q
out = sum(prices[each] for each in basket)
# %% more
prices["item58"] = 4
