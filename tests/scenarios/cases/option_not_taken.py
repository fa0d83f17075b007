"""A helper reads a table only with an option that the call leaves out.

run: setup predict change predict
ask: predict
probe: out
changed: yes
expect: input weight 3
"""
# %% setup
weight, temperature = 3.0, 2.0
def scale(x, by=None):
    return x * weight if by is None else x * by / temperature
def predict(x, calibrate=False, by=None):
    y = scale(x, by)
    if calibrate:
        y = y / temperature
    return y
# %% predict
out = predict(2.0)
# %% change
weight, temperature = 4.0, 5.0
