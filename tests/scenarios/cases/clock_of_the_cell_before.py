"""The age of customers is counted up to now in the cell that prepares; its run was for a new column.

run: setup prepare churn prepare@2 churn
ask: churn
probe: means
changed: yes
root: calls `pandas.Timestamp.now()`
expect: input feats 4
"""
# %% setup
import numpy as np, pandas as pd
base = pd.DataFrame({"signup": pd.to_datetime(["2023-01-01", "2024-05-01", "2022-03-01"]), "plan": ["a", "b", "a"]})
# %% prepare
feats = base.copy()
feats["tenure"] = (pd.Timestamp.now() - feats["signup"]).dt.total_seconds()
# %% prepare@2
feats = base.copy()
feats["tenure"] = (pd.Timestamp.now() - feats["signup"]).dt.total_seconds()
feats["is_a"] = feats["plan"] == "a"
# %% churn
means = feats.groupby("plan")["tenure"].mean().tolist()
print(means)
