"""The time that pandas tells is kept, and the data were changed.

run: setup train add train
ask: train
probe: loss
changed: yes
expect: input data 3
innocent: entropy pandas.Timestamp
"""
# %% setup
import pandas as pd
data = [1.0, 2.0]
# %% train
started = pd.Timestamp("now")
loss = sum(data)
print(f"{started:%H:%M:%S.%f} loss {loss}")
# %% add
data.append(3.0)
