"""Accuracies are kept by k in a dict, another key at each run; k was changed.

run: setup knn k knn
ask: knn
probe: acc
changed: yes
expect: input k 3
innocent: input results
"""
# %% setup
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
X, y = load_wine(return_X_y=True)
results = {}
k = 3
# %% knn
acc = KNeighborsClassifier(k).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
results[k] = acc
print(f"k={k}: {acc:.3f}")
# %% k
k = 30
