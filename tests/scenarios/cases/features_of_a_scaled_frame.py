"""The frame was scaled in place twice before the arrays were saved again; another array is saved too.

run: setup scale save knn scale save knn
ask: knn
probe: dist
changed: yes
root: changed `df`
expect: file feats.npz 6
"""
# %% setup
import numpy as np, pandas as pd
from sklearn.neighbors import NearestNeighbors
df = pd.DataFrame({"w": [50., 62., 71., 88.], "h": [1.6, 1.7, 1.8, 1.9]})
# %% scale
df["w"] = df["w"] / 10
# %% save
np.savez("feats.npz", X=df[["w", "h"]].to_numpy(), ids=np.arange(4))
# %% knn
with np.load("feats.npz") as z:
    X, ids = z["X"], z["ids"]
nn = NearestNeighbors(n_neighbors=2).fit(X)
dist = nn.kneighbors(X)[0][:, 1].round(5).tolist()
dist
