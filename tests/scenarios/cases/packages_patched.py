"""Functions of packages were replaced: by another of the package, by a partial, by a method.

run: setup show patch show
ask: show
probe: out
changed: yes
expect: input statistics.mean 3
expect: input json.dumps 3
expect: input pandas.DataFrame.head 3
needs: pandas
"""
# %% setup
import json, statistics
import pandas as pd
df = pd.DataFrame({"a": range(9)})
# %% show
out = json.dumps({"b": statistics.mean([1, 2, 9]), "a": len(df.head())})
# %% patch
from functools import partial
statistics.mean = statistics.median
json.dumps = partial(json.dumps, sort_keys=True)
pd.DataFrame.head = lambda self, n=3: self.iloc[:n]
