"""An attribute of a class changed that code reads by a text, and the rows that it picks from.

run: setup use change rows use
ask: use
probe: v
changed: yes
expect: input Config 3
expect: input frame 4
"""
# %% setup
import pandas as pd
class Config:
    limit, title = 1, "first"
frame, config = pd.DataFrame({"n": [1, 2, 3]}), Config()
# %% use
v = "{0.limit}: {1}".format(config, frame.query("n > @config.limit")["n"].sum())
# %% change
Config.limit = 2
# %% rows
frame["n"] += 1
