"""An object of a former class is made anew, of the class as it is now.

run: kinds setup kinds ask setup ask
ask: ask
probe: out
changed: yes
expect: input point 5
says: is of the class Point as it is now, and was of an earlier one
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
