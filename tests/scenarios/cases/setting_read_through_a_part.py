"""A part of an object holds the object, and reads a setting of it that the method does not.

run: setup step set step
ask: step
probe: out
changed: yes
expect: input trainer 3
"""
# %% setup
class Net:
    def __call__(self, x):
        return x * self.trainer.gain
class Trainer:
    def __init__(self, net):
        self.net, self.gain = net, 1.0
        net.trainer = self
    def step(self, x):
        return self.net(x)
trainer = Trainer(Net())
# %% step
out = trainer.step(2.0)
# %% set
trainer.gain = 3.0
