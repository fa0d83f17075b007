"""A loop goes over the columns in a list; one column was changed.

run: setup sums change sums
ask: sums
probe: sums
changed: yes
expect: input df 3
needs: pandas
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"age": [22, 35], "fare": [7.2, 71.3], "name": ["a", "b"]})
wanted = ["age", "fare"]
# %% sums
sums = {name: float(df[name].sum()) for name in wanted}
sums
# %% change
df["fare"] = df["fare"] * 2
