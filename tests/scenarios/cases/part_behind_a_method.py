"""An attribute changed that the called methods do not read; another one of the class's did.

run: setup bill other rate bill
ask: bill
probe: total
changed: yes
expect: input Item 4
innocent: input item
"""
# %% setup
class Item:
    tax = 0.2
    def __init__(self, net):
        self.net, self.tags = net, []
    @property
    def gross(self):
        return self.net * (1 + Item.tax)
    def price(self, n):
        return n * self.gross
    def tag(self, text):
        self.tags.append(text)
item = Item(10)
# %% bill
total = item.price(3)
# %% other
item.tag("lamp")
# %% rate
Item.tax = 0.1
