"""One cell set an item that is read, another one an item that is not: it has no part in it.

run: setup use other rate use
ask: use
probe: out
changed: yes
expect: input config 4
says: In[4] changed `config`: `'rate'` (0.1 → 0.2), `'note'`
"""
# %% setup
config = {"rate": 0.1, "note": "a", "patience": 3}
# %% use
out = config["rate"] * 2
# %% other
config["patience"] = 5
# %% rate
config["rate"], config["note"] = 0.2, "b"
