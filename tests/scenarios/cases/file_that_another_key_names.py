"""Two files were rewritten; the cell reads the one that an item names, another item names the other.

run: write config read write@2 read
ask: read
probe: mean
changed: yes
expect: file train.csv 4
"""
# %% write
import pandas as pd
pd.DataFrame({"x": [1, 2]}).to_csv("train.csv", index=False)
pd.DataFrame({"x": [5]}).to_csv("test.csv", index=False)
# %% write@2
pd.DataFrame({"x": [1, 9]}).to_csv("train.csv", index=False)
pd.DataFrame({"x": [7]}).to_csv("test.csv", index=False)
# %% config
config = {"train": "train.csv", "test": "test.csv"}
# %% read
mean = pd.read_csv(config["train"])["x"].mean()
