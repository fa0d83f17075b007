"""The list of features was edited and the split made again; seeds, notes and plots came in between.

run: setup config features split score plot features@2 config@2 split score
ask: score
probe: acc
changed: yes
root: was edited: `FEATURES
expect: input X_tr 9
expect: input X_va 9
says: FEATURES
innocent: input CFG
"""
# %% setup
import numpy as np, pandas as pd
import matplotlib; matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
train_test_split(pd.DataFrame({"a": range(8)}), range(8), random_state=0)  # which imports
r = np.random.default_rng(5)
df = pd.DataFrame({"age": r.normal(40, 9, 120), "fare": r.gamma(2, 15, 120), "pclass": r.integers(1, 4, 120)})
df["survived"] = ((df.fare / 15 - df.pclass + r.normal(0, .8, 120)) > 0).astype(int)
# %% config
CFG = {"C": 1.0, "test_size": 0.25, "note": "baseline"}
# %% config@2
CFG = {"C": 1.0, "test_size": 0.25, "note": "with class"}
# %% features
FEATURES = ["age", "fare"]
# %% features@2
FEATURES = ["age", "fare", "pclass"]
# %% split
X_tr, X_va, y_tr, y_va = train_test_split(
    df[FEATURES], df["survived"], test_size=CFG["test_size"], random_state=0)
# %% score
model = LogisticRegression(C=CFG["C"], max_iter=500).fit(X_tr, y_tr)
acc = float(model.predict_proba(X_va)[:, 1].mean())
print(f"{acc:.4f}")
# %% plot
fig, ax = plt.subplots()
ax.hist(df["age"] + np.random.rand(len(df)));
