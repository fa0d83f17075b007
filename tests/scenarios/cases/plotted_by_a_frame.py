"""A data frame draws itself in another style since another cell.

run: setup plot other plot
ask: plot
probe: matplotlib.rcParams["lines.linewidth"]
changed: yes
expect: flag matplotlib.rcParams 3
needs: matplotlib
"""
# %% setup
%matplotlib inline
import matplotlib
import pandas as pd

frame = pd.DataFrame({"a": [1, 3, 2]})
# %% plot
frame.plot();
# %% other
matplotlib.rcParams["lines.linewidth"] = 6
