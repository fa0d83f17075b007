"""The cell fits an estimator with more than 32 attributes again, unseeded.

run: setup fit fit
ask: fit
probe: score
changed: yes
expect: rng numpy 2
innocent: input net
needs: sklearn
"""
# %% setup
import warnings
import numpy as np
from sklearn.neural_network import MLPClassifier
warnings.simplefilter("ignore")
np.random.seed(0)
x = np.random.rand(40, 3)
y = (x.sum(axis=1) > 1.5).astype(int)
net = MLPClassifier(hidden_layer_sizes=(4,), max_iter=3)
# %% fit
net.fit(x, y)
score = net.loss_
