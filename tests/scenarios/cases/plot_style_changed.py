"""Lines are drawn thicker since another cell: the picture differs, its numbers do not.

run: setup plot other plot
ask: plot
probe: picture
changed: yes
expect: flag matplotlib.rcParams 3
needs: matplotlib
"""
# %% setup
import io
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
# %% plot
figure, axes = plt.subplots()
_ = axes.plot([1, 3, 2])
buffer = io.BytesIO()
figure.savefig(buffer, format="png", metadata={"Software": None})
picture = str(sum(buffer.getvalue()))
plt.close(figure)
del figure, axes, buffer, _
# %% other
plt.rcParams["lines.linewidth"] = 6
