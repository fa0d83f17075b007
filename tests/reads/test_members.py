"""Which methods of a class of the user's no code calls that a cell leads to."""

from __future__ import annotations

import pytest

HELD = """
import argparse
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.LayerNorm(1)
    def forward(self, x): return self.encode(x)
    def encode(self, x): return self.layer(x)
    def extra_repr(self): return "small"
    def summary(self): return "a net"
    def predict(self, x): return self(x)
    @property
    def width(self): return 1
    size = 3
class Action(argparse.Action):
    def summary(self): return "an action"
net = Net()
def show(part): return getattr(net, part)()
"""

UNUSED = {
    "x = Net()": {"summary", "width"},
    "x = net(torch.ones(1))": {"summary", "width"},
    "x = net.width": {"summary"},
    "x = net.summary()": {"width"},
    "x = getattr(net, 'summary')()": {"width"},
    "x = [f(net) for f in [lambda each: each.width]]": {"summary"},
}


@pytest.mark.parametrize(("cell", "unused"), UNUSED.items(), ids=UNUSED)
def test_methods_that_nobody_calls(notebook, cell, unused):
    """Those that a base or a package may call count as called."""
    notebook.run(HELD)
    assert notebook.dependencies(cell).parts["Net"] == {"-", *(f"-a:{each}" for each in unused)}


@pytest.mark.parametrize("cell", ["x = show('width')", "x = vars(Net)", "exec(text)\nx = Net()"])
def test_code_that_may_call_any(notebook, cell):
    """A method may be called by a text, and code that is not known may call all."""
    notebook.run(HELD)
    assert "Net" not in notebook.dependencies(cell).parts


def test_a_base_that_calls_by_name(notebook):
    """A package's base may call methods by names that it puts together."""
    notebook.run(HELD)
    assert "Action" not in notebook.dependencies("x = Action").parts
