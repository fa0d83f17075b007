"""A setting of matplotlib's that is not the first that comes to mind changes a figure.

run: setup plot bigger plot
ask: plot
probe: size
changed: yes
expect: flag matplotlib.rcParams 3
"""
# %% setup
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
# %% plot
fig, ax = plt.subplots()
size = ax.plot([1, 2], "o")[0].get_markersize()
plt.close(fig)
# %% bigger
plt.rcParams["lines.markersize"] = 12
