"""The data were read again from a file that was written again in between.

run: setup load use write load use
ask: use
probe: m
changed: yes
expect: input df 5
says:  → 
"""
# %% setup
import pandas as pd
open("d.csv", "w").write("a\n1\n2\n");
# %% load
df = pd.read_csv("d.csv")
# %% use
m = float(df["a"].mean())
# %% write
open("d.csv", "w").write("a\n1\n7\n");
