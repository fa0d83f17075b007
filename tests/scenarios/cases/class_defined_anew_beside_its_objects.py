"""A class's cell is run again unchanged: its objects are of the former class.

run: shapes setup area shapes area
ask: area
probe: total
changed: yes
expect: input shapes 4
says: is still an object of the old class Square
"""
# %% shapes
class Square:
    def __init__(self, side):
        self.side = side
# %% setup
shapes = [Square(2), Square(3)]
# %% area
total = sum(s.side ** 2 for s in shapes if isinstance(s, Square))
print(total)
