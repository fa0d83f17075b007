"""After a restart the encoder comes from a pickle, which was written again for the test set.

run: setup fit transform fit@2 !restart setup noise transform
ask: transform
probe: codes
changed: yes
root: was edited: `enc =
expect: file encoder.pkl 4
innocent: rng numpy
"""
# %% setup
import pickle
import numpy as np, pandas as pd
from sklearn.preprocessing import OrdinalEncoder
train = pd.DataFrame({"color": ["red", "blue", "green", "red"]})
test = pd.DataFrame({"color": ["amber", "blue", "red", "green", "white"]})
# %% fit
enc = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(train)
with open("encoder.pkl", "wb") as f:
    pickle.dump(enc, f)
# %% fit@2
enc = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(pd.concat([train, test]))
with open("encoder.pkl", "wb") as f:
    pickle.dump(enc, f)
# %% transform
with open("encoder.pkl", "rb") as f:
    encoder = pickle.load(f)
codes = encoder.transform(train)[:, 0].tolist()
codes
# %% noise
np.random.rand(3);
