"""The same keys and values are in another order.

run: setup write move write
ask: write
probe: header
changed: yes
expect: input columns 3
"""
# %% setup
columns = {"id": 1, "name": 2, "age": 3}
# %% write
header = ",".join(columns)
# %% move
columns["id"] = columns.pop("id")
