"""A pandas option decides as what text columns come in.

run: setup load opt load
ask: load
probe: kind
changed: yes
expect: flag pandas.options 3
"""
# %% setup
import pandas as pd
with open("people.csv", "w") as f:
    f.write("name,age\nAnn,31\nBo,45\n")
# %% load
people = pd.read_csv("people.csv")
kind = str(people["name"].dtype)
people.dtypes
# %% opt
pd.set_option("future.infer_string", False)
