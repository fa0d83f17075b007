"""Another cell drew from numpy before the data were split again.

run: setup seed split noise split
ask: split
probe: y_test.tolist()
changed: yes
expect: rng numpy 3 4
"""
# %% setup
import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
X, y = load_iris(return_X_y=True)
# %% seed
np.random.seed(0)
# %% split
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2)
# %% noise
np.random.rand(10);
