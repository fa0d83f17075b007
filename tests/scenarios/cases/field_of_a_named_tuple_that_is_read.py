"""A field of a named tuple was replaced that a method of its class reads.

run: setup total change total
ask: total
probe: price
changed: yes
expect: input order 3
says: changed `order`: .count
"""
# %% setup
from typing import NamedTuple
class Order(NamedTuple):
    count: int
    each: float
    note: str
    def total(self):
        return self.count * self.each
order = Order(2, 1.5, "a")
# %% total
price = order.total()
# %% change
order = order._replace(count=3, note="b")
