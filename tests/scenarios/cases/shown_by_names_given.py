"""A result is shown by its class, which looks up the variables that it was given the names of.

run: setup show add show
ask: show
probe: prices["a"].sum()
changed: yes
expect: input prices 3
says: changed `prices`
"""
# %% setup
import pandas as pd


class Side:
    def __init__(self, *names):
        self.names = names

    def _repr_html_(self):
        return "".join(eval(name)._repr_html_() for name in self.names)


prices, costs = pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [3, 4]})
# %% show
Side("prices", "costs.sum().to_frame()")
# %% add
prices["a"] += 1
