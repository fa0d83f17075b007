"""Pictures are shown in another format since another cell.

run: setup plot other plot
ask: plot
probe: plt.Figure in get_ipython().display_formatter.formatters["image/svg+xml"].type_printers
changed: yes
expect: flag InlineBackend 3
needs: matplotlib
"""
# %% setup
%matplotlib inline
import matplotlib.pyplot as plt
# %% plot
plt.plot([1, 3, 2])
plt.show()
# %% other
%config InlineBackend.figure_format = "svg"
