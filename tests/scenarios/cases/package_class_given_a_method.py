"""A method that the notebook adds to DataFrame is redefined.

run: setup patch norm patch@2 norm
ask: norm
probe: out
changed: yes
expect: input pandas.DataFrame.scale 4
needs: pandas
"""
# %% setup
import pandas as pd
df = pd.DataFrame({'a': [1.0, 2.0, 4.0]})
# %% patch
def scale(self):
    return self / self.max()
pd.DataFrame.scale = scale
# %% norm
out = df.scale()['a'].tolist()
# %% patch@2
def scale(self):
    return (self - self.mean()) / self.std()
pd.DataFrame.scale = scale
