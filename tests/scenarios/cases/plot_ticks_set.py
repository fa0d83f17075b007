"""A setting of ticks that few people change was set in another cell: the picture differs.

run: setup plot other plot
ask: plot
probe: pixels
changed: yes
expect: flag matplotlib.rcParams 3
says: xtick.direction default → in
needs: matplotlib
"""
# %% setup
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
# %% plot
figure, axes = plt.subplots()
_ = axes.plot([1, 3, 2])
figure.canvas.draw()
pixels = sum(bytes(figure.canvas.buffer_rgba()))
plt.close(figure)
# %% other
plt.rcParams["xtick.direction"] = "in"
