"""A chain of assign and groupby by literal names; an unread column was recoded; the factor acts.

run: load chain recode bound chain
ask: chain
probe: out
changed: yes
expect: input k 4
innocent: input flights
"""
# %% load
import pandas as pd
flights = pd.DataFrame({"delay": [5, 60, 12, 33], "dist": [100, 800, 300, 500], "carrier": ["A", "B", "A", "B"], "tail": ["n1", "n2", "n3", "n4"]})
k = 1.0
# %% chain
out = (flights.assign(speed=lambda d: k * d["dist"] / d["delay"])
       .groupby("carrier")["speed"].mean().round(3).to_dict())
print(out)
# %% recode
flights["tail"] = flights["tail"].str.upper()
# %% bound
k = 2.0
