"""Other items of a list and a dictionary changed than those that the cell reads by number.

run: setup bill other quantity bill
ask: bill
probe: total
changed: yes
expect: input quantity 4
innocent: input rates
innocent: input weights
"""
# %% setup
rates = [0.10, 0.15, 0.20]
weights = {0: 1.0, 1: 2.0}
quantity = 2
def price(): return rates[0] * weights[1] + sum(rates[:2])
# %% bill
total = price() * quantity
# %% other
rates[2] = 0.5
rates.append(0.6)
weights[0] = 3.0
# %% quantity
quantity = 3
