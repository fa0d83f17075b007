"""A cell adds a column and shows the table: that it was there the second time does not act.

run: setup age age
ask: age
probe: df.age_s.tolist()
changed: yes
expect: entropy datetime
innocent: input df
needs: pandas
"""
# %% setup
import pandas as pd
from datetime import datetime
df = pd.DataFrame({"user": ["u1", "u2"], "joined": pd.to_datetime(["2020-01-01", "2021-06-30"])})
# %% age
now = datetime.now()
df["age_s"] = (now - df["joined"]).dt.total_seconds()
df
