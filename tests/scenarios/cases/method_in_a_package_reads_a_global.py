"""A method that the notebook puts into the class of a package reads a weight, which changed.

run: setup work weights work
ask: work
probe: s
changed: yes
expect: input w 3
needs: pandas
"""
# %% setup
import pandas as pd
w = 2.0
def to_score(self):
    return float((self['a'] * w).sum())
pd.DataFrame.to_score = to_score
df = pd.DataFrame({'a': [1.0, 2.0]})
# %% work
s = df.to_score()
s
# %% weights
w = 3.0
