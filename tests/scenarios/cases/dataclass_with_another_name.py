"""A data class of settings got another name; the split is seeded, the classifier is not.

run: setup config seed split fit score config@2 split fit score
ask: score
probe: proba
changed: yes
root: numpy's random stream had moved on
expect: input clf 9
"""
# %% setup
from dataclasses import dataclass
import numpy as np, pandas as pd
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
@dataclass
class Config:
    name: str
    test_size: float = 0.3
    loss: str = "log_loss"
g = np.random.default_rng(52)
df = pd.DataFrame(g.normal(size=(60, 2)), columns=["a", "b"]); df["y"] = (df.a + g.normal(size=60) > 0).astype(int)
# %% config
cfg = Config("base")
# %% config@2
cfg = Config("base, again")
# %% seed
np.random.seed(1)
# %% split
tr, te = train_test_split(df, test_size=cfg.test_size, random_state=5)
# %% fit
clf = SGDClassifier(loss=cfg.loss, max_iter=6, tol=None).fit(tr[["a", "b"]], tr["y"])
# %% score
proba = clf.predict_proba(te[["a", "b"]])[:, 1].round(8).tolist()
print(len(proba), sum(proba) / len(proba))
