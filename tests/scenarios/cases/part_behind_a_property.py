"""The cell reads a property, which reads an attribute that changed.

run: setup use other use
ask: use
probe: out
changed: yes
expect: input cfg 3
"""
# %% setup
class Config:
    def __init__(self):
        self.batch, self.lr = 4, 0.1
    @property
    def rate(self):
        return self.lr * self.batch
cfg = Config()
# %% use
out = cfg.batch + cfg.rate
# %% other
cfg.lr = 0.5
