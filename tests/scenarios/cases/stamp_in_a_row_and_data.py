"""Each result is kept in a row with the time of day; the data were changed.

run: setup score add score
ask: score
probe: out
changed: yes
expect: input data 3
allow: input rows
innocent: entropy datetime.datetime.now
"""
# %% setup
from datetime import datetime
data, rows = [1.0, 2.0], []
# %% score
out = sum(data)
rows.append({"sum": out, "when": datetime.now()})
# %% add
data.append(3.0)
