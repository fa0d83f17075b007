"""A view of a dict's keys was kept; another cell added a column to the dict.

run: setup hdr add hdr
ask: hdr
probe: header
changed: yes
expect: input cols or input schema 3
"""
# %% setup
schema = {"id": int, "name": str}
cols = schema.keys()
# %% hdr
header = ",".join(cols)
header
# %% add
schema["email"] = str
