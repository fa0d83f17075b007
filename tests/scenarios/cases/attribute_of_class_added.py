"""A class gets an attribute for a plot; an item was appended to the cart.

run: imports cls cart total style total
ask: total
probe: total
changed: yes
expect: input cart 5
innocent: input Item
"""
# %% imports
from dataclasses import dataclass
# %% cls
@dataclass
class Item:
    name: str
    price: float
    def vat(self):
        return self.price * 0.081
# %% cart
cart = [Item('lamp', 30.0), Item('desk', 120.0)]
# %% total
total = round(sum(i.price + i.vat() for i in cart), 2)
print('total', total)
# %% style
Item.color = 'tab:blue'
cart.append(Item('pen', 2.5))
