"""An estimator with a random state is fitted again after numpy was drawn from.

run: setup fit noise fit
ask: fit
probe: score
changed: no
"""
# %% setup
import numpy as np
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier
X, y = load_iris(return_X_y=True)
# %% fit
tree = DecisionTreeClassifier(max_features=1, random_state=3).fit(X, y)
score = tree.score(X, y)
# %% noise
np.random.rand(10);
