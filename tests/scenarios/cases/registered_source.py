"""An object of the user's is a source that was registered; it moved on, and the object with it.

run: setup draw draw
ask: draw
probe: v
changed: yes
expect: rng dice 2
says: had moved on
back: complete
"""
# %% setup
import ipytorchseed as its
class Dice:
    state = 1
    def seed(self, value):
        self.state = value
    def read(self):
        return str(self.state).encode()
    def write(self, kept):
        self.state = int(kept)
    def roll(self):
        self.state = (self.state * 16807 + 1) % 2147483647
        return self.state % 6
dice = Dice()
if "dice" not in {each.name for each in __import__("ipytorchseed.rng.table").rng.table.sources()}:
    its.register_source("dice", seed=dice.seed, read=dice.read, write=dice.write)
# %% draw
v = [dice.roll() for _ in range(9)]
