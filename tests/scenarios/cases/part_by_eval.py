"""An expression of two columns is evaluated; a third one and the tax changed.

run: setup use other rate use
ask: use
probe: total
changed: yes
expect: input tax 4
innocent: input df
"""
# %% setup
import pandas as pd
df = pd.DataFrame({"price": [1.0, 2.0], "n": [3, 4], "note": ["a", "b"]})
tax = 0.1
# %% use
total = df.eval("price * n * (1 + @tax)").sum()
# %% other
df["note"] = "x"
# %% rate
tax = 0.2
