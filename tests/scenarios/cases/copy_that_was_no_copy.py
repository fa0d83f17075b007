"""What was another name of a list became a copy of it: the same items, and two lists.

run: lists add lists@2 add
ask: add
probe: total
changed: yes
expect: input basket 3
says: `basket` is no longer the same object as `prices`
"""
# %% lists
prices = [1, 2]
basket = prices
# %% lists@2
prices = [1, 2]
basket = list(prices)
# %% add
basket.append(5)
total = sum(prices)
