"""The hash seed changed with the restart, but the cell adds numbers.

run: setup add !env PYTHONHASHSEED=7 !restart setup add
ask: add
probe: total
changed: no
kernel: cold
"""
# %% setup
numbers = {"a": 1, "b": 2}
# %% add
total = sum(numbers.values())
