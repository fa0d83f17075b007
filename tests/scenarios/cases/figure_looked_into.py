"""A cell counts what a figure holds, and draws nothing: sizes of lines do not act, the figure does.

run: setup draw count more count
ask: count
probe: lines
changed: yes
expect: flag matplotlib.pyplot.figure 4
innocent: flag matplotlib.rcParams
needs: matplotlib
"""
# %% setup
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
# %% draw
_ = ax.plot([0, 1, 2], [0, 1, 4])
# %% count
lines = len(fig.axes[0].lines)
lines
# %% more
plt.rcParams["lines.linewidth"] = 3
_ = ax.plot([0, 1, 2], [0, 10, 40])
