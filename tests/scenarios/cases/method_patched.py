"""A method was replaced on the class of an object that stayed.

run: setup predict patch predict
ask: predict
probe: out
changed: yes
expect: input Model or input m 3
allow: input m
allow: input Model
"""
# %% setup
class Model:
    def __init__(self, bias):
        self.bias = bias
    def predict(self, x):
        return x + self.bias
m = Model(1)
# %% predict
out = m.predict(3)
# %% patch
Model.predict = lambda self, x: x - self.bias
