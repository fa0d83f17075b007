"""The cell prints an object whose address differs each time.

run: setup show show
ask: show
probe: kept.name
changed: no
"""
# %% setup
keep = []
class Thing:
    name = "thing"
# %% show
kept = Thing()
keep.append
print(kept, [Thing(), Thing()])
