"""A name is given another class, which differs from the first in no more than its name.

run: setup use other use
ask: use
probe: out
changed: yes
expect: input Kind 3
expect: input scale 3
"""
# %% setup
class Base:
    RATES = {"Near": 1.0, "Far": 2.0}
    def rate(self):
        return self.RATES[type(self).__name__]
class Near(Base):
    pass
class Far(Base):
    pass
Kind, scale = Near, 3
# %% use
out = Kind().rate() * scale
print(out)
# %% other
Kind, scale = Far, 4
