"""The cell keeps when it began, and its data were changed.

run: setup train add train
ask: train
probe: loss
changed: yes
expect: input data 3
innocent: entropy datetime.datetime.now
"""
# %% setup
from datetime import datetime
data = [1.0, 2.0]
# %% train
started = datetime.now()
key = id(data)
loss = sum(data)
# %% add
data.append(3.0)
