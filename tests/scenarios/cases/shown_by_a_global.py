"""A result is the same object with the same content, and its class writes it in another unit.

run: setup show set show
ask: show
probe: repr(length)
changed: yes
expect: input UNIT 3
"""
# %% setup
UNIT = "m"


class Length:
    def __init__(self, metres):
        self.metres = metres

    def __repr__(self):
        return f"{self.metres} {UNIT}"


length = Length(3)
# %% show
length
# %% set
UNIT = "km"
