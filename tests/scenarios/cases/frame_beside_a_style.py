"""A style for figures was chosen, and the cell that reads a data frame draws none.

run: setup show other show
ask: show
probe: frame["a"].sum()
changed: yes
expect: input frame 3
innocent: flag matplotlib.rcParams
"""
# %% setup
import matplotlib
import pandas as pd

frame = pd.DataFrame({"a": [1, 3, 2]})
# %% show
frame.describe()
# %% other
matplotlib.rcParams["lines.linewidth"] = 6
frame.loc[0, "a"] = 7
