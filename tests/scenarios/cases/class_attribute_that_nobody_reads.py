"""Attributes of a class and of a configuration that the cell does not read changed, and an operand.

run: setup use change k use
ask: use
probe: v
changed: yes
expect: input k 4
innocent: input Quantity
innocent: input Config
"""
# %% setup
class Config:
    rate, title = 0.5, "first"
class Quantity:
    FACTOR, LABELS = 2, ["q"]
    def __init__(self, value, config):
        self.value, self.config = value, config
    def __mul__(self, k):
        return self.value * k * self.FACTOR * self.config.rate
q, k = Quantity(3, Config()), 2
# %% use
v = q * k
# %% change
Quantity.LABELS.append("qq"); Config.title = "second"
# %% k
k = 3
