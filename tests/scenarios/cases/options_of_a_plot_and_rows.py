"""An option of a plot changed, and the columns that a pipeline is fitted to.

run: imports data params fit data@2 params@2 fit
ask: fit
probe: score
changed: yes
expect: input X
allow: input plot_params
"""
# %% imports
import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.model_selection import cross_val_score
# %% data
X, y = load_iris(return_X_y=True)
X = X[:, :2]
# %% data@2
X, y = load_iris(return_X_y=True)
X = X[:, 1:3]
# %% params
plot_params = {"width": 4}
C = 1.0
# %% params@2
plot_params = {"width": 6}
C = 1.0
# %% fit
clf = make_pipeline(StandardScaler(), LogisticRegression(C=C))
score = cross_val_score(clf, X, y, cv=5).mean()
wide = plot_params["width"] > 3
