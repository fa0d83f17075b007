"""A result is shown by its address alone; a label that its class reads elsewhere changed.

run: setup show set show
ask: show
probe: repr(length).partition(" at ")[0]
changed: no
"""
# %% setup
LABEL = "long"


class Length:
    def describe(self):
        return LABEL


length = Length()
# %% show
length
# %% set
LABEL = "short"
