"""The model counts its calls, and warms up by that count.

run: setup q q
ask: q
probe: out
changed: yes
expect: input model 2
"""
# %% setup
class Model:
    def __init__(self):
        self.weight, self.calls = 2.0, 0
    def __call__(self, x):
        self.calls += 1
        return self.weight * x * min(1, self.calls / 10)
model = Model()
# %% q
out = model(3.0)
