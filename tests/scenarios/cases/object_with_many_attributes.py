"""Of an object with many attributes some were set: they are not counted.

run: setup q other q
ask: q
probe: out
changed: yes
expect: input box 3
"""
# %% setup
class Box:
    pass
box = Box()
for n in range(40):
    setattr(box, f"part{n}", n)
# %% q
out = sum(vars(box).values())
# %% other
for n in range(5):
    setattr(box, f"more{n}", n)
