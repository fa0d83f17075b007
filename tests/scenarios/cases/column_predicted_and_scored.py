"""The cell writes predictions and scores them with sklearn; the depth changed.

run: load fit depth fit
ask: fit
probe: rmse
changed: yes
expect: input depth 3
innocent: input df
"""
# %% load
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_squared_error
from sklearn.tree import DecisionTreeRegressor
df = load_diabetes(as_frame=True).frame
FEATURES = ["bmi", "bp", "s5"]
depth = 2
# %% fit
tree = DecisionTreeRegressor(max_depth=depth, random_state=0)
tree.fit(df[FEATURES], df["target"])
df["pred"] = tree.predict(df[FEATURES])
rmse = mean_squared_error(df["target"], df["pred"]) ** 0.5
print(f"RMSE {rmse:.2f}")
# %% depth
depth = 4
