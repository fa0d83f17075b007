"""Figures are wider since another cell, and the cell measures its own.

run: setup plot other plot
ask: plot
probe: width
changed: yes
expect: flag matplotlib.rcParams 3
needs: matplotlib
"""
# %% setup
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
# %% plot
figure, axes = plt.subplots()
width = figure.get_size_inches().tolist()
plt.close(figure)
# %% other
plt.rcParams["figure.figsize"] = (12, 3)
