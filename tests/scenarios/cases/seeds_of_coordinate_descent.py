"""A lasso draws a seed that it does not use; what changed is how strong it is.

run: setup alpha fit alpha@2 fit
ask: fit
probe: error
changed: yes
expect: input alpha 4
innocent: rng numpy
needs: sklearn
"""
# %% setup
import numpy as np
from sklearn.linear_model import Lasso
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

rng = np.random.RandomState(0)
X = rng.normal(size=(40, 3))
target = X[:, 0] * 2
# %% alpha
alpha = 0.1
# %% alpha@2
alpha = 0.2
# %% fit
X_train, X_test, y_train, y_test = train_test_split(X, target, test_size=0.25, random_state=0)
model = Lasso(alpha=alpha).fit(X_train, y_train)
error = mean_squared_error(y_test, model.predict(X_test))
