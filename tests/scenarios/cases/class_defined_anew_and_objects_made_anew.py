"""An object of a former class is made again, of the class as it is now.

run: kinds setup kinds ask setup ask
ask: ask
probe: out
changed: yes
expect: input point 5
says: is an object of the new class Point, and was one of the old class
"""
# %% kinds
from dataclasses import dataclass
@dataclass
class Point:
    x: int
# %% setup
point = Point(1)
# %% ask
out = point == Point(1)
print(out)
