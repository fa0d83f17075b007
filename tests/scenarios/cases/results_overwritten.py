"""The cell overwrites its own result, which it never reads.

run: setup compute spoil compute
ask: compute
probe: out
changed: no
"""
# %% setup
values = [3, 1, 2]
# %% compute
out = sorted(values)
out.append(9)
# %% spoil
out = None
