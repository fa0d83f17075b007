"""A cell draws into pyplot's current figure, which another cell left open.

run: setup plot other plot
ask: plot
probe: n
changed: yes
expect: flag matplotlib.pyplot 2
"""
# %% setup
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
xs = [1, 2, 3]
# %% plot
plt.plot(xs)
n = len(plt.gca().lines)
print(n)
# %% other
y = 1
