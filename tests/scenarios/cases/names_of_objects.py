"""Only the text of an object with its address differs between the runs.

run: setup show show
ask: show
probe: type(net).__name__
changed: no
"""
# %% setup
class Net:
    def __init__(self, dim):
        self.dim = dim
# %% show
net = Net(3)
net
