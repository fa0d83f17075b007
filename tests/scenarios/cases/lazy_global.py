"""A global that is filled at its first use; k was edited.

run: setup q ins q
ask: q
probe: n
changed: yes
expect: input k 3
innocent: input _table
"""
# %% setup
_table = None
def table():
    global _table
    if _table is None:
        _table = [i * i for i in range(10)]
    return _table
k = 2
# %% q
n = table()[3] * k
# %% ins
k = 3
