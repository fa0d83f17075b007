"""The cell reads its parameters by with open; the frame lost rows, the config gained a key.

run: setup params score rows params@2 score
ask: score
probe: coef
changed: yes
expect: input df 4
innocent: file params.json
"""
# %% setup
import json
import numpy as np, pandas as pd
from sklearn.linear_model import Ridge
g = np.random.default_rng(51)
df = pd.DataFrame(g.normal(size=(30, 3)), columns=["a", "b", "y"])
# %% params
with open("params.json", "w") as f:
    json.dump({"alpha": 2.0}, f)
# %% params@2
with open("params.json", "w") as f:
    json.dump({"alpha": 2.0, "author": "me"}, f)
# %% score
with open("params.json") as f:
    alpha = json.load(f)["alpha"]
coef = Ridge(alpha).fit(df[["a", "b"]], df["y"]).coef_.round(6).tolist()
coef
# %% rows
df = df[df["a"].abs() < 1]
