"""A part of a namespace inside another one, and one of two tables by name, were changed.

run: setup fit other fit change fit
ask: fit
probe: out
changed: yes
expect: input args 5
expect: input x_test 5
"""
# %% setup
from types import SimpleNamespace
args = SimpleNamespace(model=SimpleNamespace(rate=0.1, width=8), data=SimpleNamespace(path="a"))
x_train, x_test, x_valid = [1.0, 2.0], [3.0], [4.0]
# %% fit
out = {part: sum(globals()[f"x_{part}"]) * args.model.rate for part in ("train", "test")}
# %% other
args.model.width, args.data.path = 16, "b"
x_valid.append(5.0)
# %% change
args.model.rate = 0.2
x_test[0] = 6.0
args.data.path = "c"
