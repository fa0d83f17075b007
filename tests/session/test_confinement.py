"""Runs that can change only what they read and set.

Other variables are not inspected again.
"""

from __future__ import annotations

import pytest
import torch
from torch.overrides import TorchFunctionMode

from ipytorchseed.fingerprint import fingerprint
from ipytorchseed.session.variables import leads_nowhere

BEFORE = """
import pandas as pd
a = np.ones(4); t = torch.ones(4); s = 'text'; n = 3
pile = [1]; model = nn.Linear(2, 1); w = torch.ones(2, requires_grad=True); loss = w.sum()
opt = torch.optim.SGD(model.parameters(), 0.1); it = iter(pile)
table = pd.DataFrame({'piles': [pile]})
full = np.empty(1, object); full[0] = pile
def plain(x, y=2): return x + y
def keeps(x, into=pile): into.append(x)
def closes(into=pile):
    def inner(x): into.append(x)
    return inner
closed = closes()
put = pile.append
class Registry:
    held = pile
"""

CONFINED = {
    "nothing": "print(1)",
    "an array": "b = a * 2\nprint(b.sum())",
    "a tensor": "t.mean().item()",
    "a text and a number": "print(s.upper(), n + 1)",
    "a function": "plain(1)",
    "a library": "import math\nmath.sqrt(np.sum(a))",
    "new values": "from collections import deque\nd = deque([1])\nd.append(a)",
}

FREE = {
    "a list": "len(pile)",
    "a model": "model(torch.ones(2))",
    "an optimizer": "opt.step()",
    "an iterator": "next(it)",
    "a graph": "loss.backward()",
    "a leaf": "w.grad",
    "an array of objects": "full[0].append(2)",
    "a default": "keeps(2)",
    "a closure": "closed(2)",
    "a bound method": "put(2)",
    "a class": "Registry.held",
    "text that is run": "exec(open('/dev/null').read())",
    "a result": "_",
    "all names": "for each in list(globals().values()): pass",
    "an item of a column": "table.loc[0, 'piles'].append(2)",
    "a changed array": "a[0] = 7",
}


def _is_confined(notebook, cell):
    """Return whether the run is assumed to leave other variables unchanged."""
    watched = notebook.session.variables
    before = watched._round
    run = notebook.run(cell)
    assert notebook.error is None
    return watched._round == before, run


@pytest.mark.parametrize("cell", CONFINED.values(), ids=CONFINED)
def test_a_run_that_only_looks_leaves_the_rest_alone(torch_names, cell):
    """No other variable is reported as changed."""
    torch_names.run(BEFORE)
    confined, run = _is_confined(torch_names, cell)
    assert confined
    assert run.in_place == ()


@pytest.mark.parametrize("cell", FREE.values(), ids=FREE)
def test_what_may_lead_to_other_variables_has_them_looked_at(torch_names, cell):
    """This holds even if the cell changes none."""
    torch_names.run(BEFORE)
    torch_names.names["_"] = torch_names.names["pile"]
    assert not _is_confined(torch_names, cell)[0]


def test_whether_a_tensor_has_a_graph_is_asked_unseen(torch_names):
    """No torch function mode and no subclass of the user is called."""
    heard = []

    class Heard(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            heard.append(function)
            return super().__torch_function__(function, types, args, kwargs or {})

    class Mode(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            heard.append(function)
            return function(*args, **(kwargs or {}))

    torch_names.names.update(plain=torch.ones(2), own=torch.ones(2).as_subclass(Heard))
    for name in ("plain", "own"):
        look = fingerprint(torch_names.names[name])
        heard.clear()
        with Mode():
            assert leads_nowhere(torch_names.names[name], look)
            torch_names.run(f"{name};")
        assert heard == []
