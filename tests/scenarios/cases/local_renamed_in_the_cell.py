"""The cell names a local variable of its function otherwise; the data changed as well.

run: setup use change use@2
ask: use
probe: out
changed: yes
expect: input data 3
innocent: code use
"""
# %% setup
data = [1, 2, 3]
# %% use
def half(values):
    found = sum(values)
    return found / 2
out = half(data)
# %% use@2
def half(values):
    total = sum(values)
    return total / 2
out = half(data)
# %% change
data = [1, 2, 4]
