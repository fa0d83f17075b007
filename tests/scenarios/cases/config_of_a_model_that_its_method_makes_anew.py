"""A width was edited; the cell resets the model, whose constructor reads it.

run: config net use config@2 use
ask: use
probe: out
changed: yes
expect: input CFG 4
"""
# %% config
class CFG:
    width = 3
# %% config@2
class CFG:
    width = 4
# %% net
class Net:
    def __init__(self):
        self.width = CFG.width
    def reset(self):
        self.__init__()
        return self
net = Net()
# %% use
out = net.reset().width
