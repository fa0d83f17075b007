"""A class makes a generator without a seed; a method that is never called was edited.

run: cls q cls@2 q
ask: q
probe: out.tolist()
changed: yes
expect: entropy numpy.random.default_rng
innocent: input Augment
"""
# %% cls
import numpy as np
class Augment:
    def __init__(self, sigma):
        self.sigma = sigma
        self.rng = np.random.default_rng()
    def __call__(self, image):
        return image + self.sigma * self.rng.normal(size=image.shape)
    def describe(self):
        return f"noise {self.sigma}"
# %% cls@2
import numpy as np
class Augment:
    def __init__(self, sigma):
        self.sigma = sigma
        self.rng = np.random.default_rng()
    def __call__(self, image):
        return image + self.sigma * self.rng.normal(size=image.shape)
    def describe(self):
        return f"gaussian noise of {self.sigma}"
# %% q
out = Augment(0.2)(np.ones((2, 2)))
