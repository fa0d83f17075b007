"""The cell makes a table only where there is none yet.

run: setup look look
ask: look
probe: said
changed: yes
expect: input table 2
back: complete
"""
# %% setup
sizes = [1, 2]
# %% look
if "table" not in globals():
    table = {n: n * n for n in sizes}
    said = "made"
else:
    said = "found"
