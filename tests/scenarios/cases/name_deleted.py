"""A name that the cell looks up was deleted by another cell.

run: setup use rm use
ask: use
probe: res
changed: yes
expect: input flag 3
"""
# %% setup
flag = True
# %% use
res = "with" if "flag" in globals() else "without"
try:
    res += str(flag)
except NameError:
    res += " none"
# %% rm
del flag
