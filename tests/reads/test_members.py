"""Which methods of a class of the user's no code calls that a cell leads to."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.usefixtures("put_back")

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
from pandas import DataFrame
frame, asked = DataFrame({"n": [1]}), "n > @net.size"
"""

UNUSED = {
    "x = Net()": {"summary", "width", "size"},
    "x = net(torch.ones(1))": {"summary", "width", "size", "__init__"},
    "net.eval()": {"summary", "width", "size", "__init__"},
    "x = net.width": {"summary", "size", "__init__"},
    "x = net.summary()": {"width", "size", "__init__"},
    "x = getattr(net, 'summary')()": {"width", "size", "__init__"},
    "x = [f(net) for f in [lambda each: each.width]]": {"summary", "size", "__init__"},
    "x = net.size": {"summary", "width", "__init__"},
    "x = '{0.size:>3}'.format(net)": {"summary", "width", "__init__"},
    "x = frame.query('n > @net.size')": {"summary", "width", "__init__"},
    "match net:\n    case Net(size=3): x = 1": {"summary", "width"},
}


@pytest.mark.parametrize(("cell", "unused"), UNUSED.items(), ids=UNUSED)
def test_methods_that_nobody_calls(notebook, cell, unused):
    """Those that a base or a package may call count as called; data likewise."""
    notebook.run(HELD)
    assert notebook.dependencies(cell).parts["Net"] == {"-", *(f"-a:{each}" for each in unused)}


BUILT = """
import copy, dataclasses, functools, torch
width, slope, bias = 3, 2.0, 1.0
class Base:
    def __init__(self): self.width = width
class Net(Base):
    def __init__(self):
        super().__init__()
        self._build()
    def _build(self): self.slope = slope
    def __call__(self, x): return x * self.slope
    def shift(self, x): return x + bias
    def reset(self): self.__init__()
    @classmethod
    def fresh(cls): return cls()
    def same(self): return type(self)()
    def too(self): return self.__class__()
class Other:
    def __init__(self): super().__init__()
@dataclasses.dataclass
class Row:
    x: int = 0
    def __post_init__(self): self.y = slope
class Fit:
    def __init__(self): self.width = width
    def get_params(self, deep=True): return {}
class Table(Base):
    limits, steps = {"low": lambda: slope}, functools.cached_property(lambda self: bias)
@dataclasses.dataclass
class Options:
    act: object = dataclasses.field(init=False, default=lambda: width)
class Kind:
    def __init_subclass__(cls): cls.width = width
class Known(Kind):
    def run(self): return 1
table, options, known = Table(), Options(), Known()
net, row, fit, kinds, named = Net(), Row(), Fit(), {"net": Net}, "shift"
def build(): return Net()
def call(each): return each(2)
"""

CALLS = {
    "x = net(1)": set(),
    "x = call(net)": set(),
    "x = Other(), net(1)": set(),
    "x = copy.deepcopy(net)(1)": set(),
    "x = net.shift(1)": {"bias"},
    "x = [each.shift for each in [net]]": {"bias"},
    "net._build()": {"slope"},
    "x = Net()": {"width", "slope"},
    "x = build()": {"width", "slope"},
    "x = kinds['net']()": {"width", "slope"},
    "x = type(net)()": {"width", "slope"},
    "x = net.__class__()": {"width", "slope"},
    "net.reset()": {"width", "slope"},
    "x = net.fresh()": {"width", "slope"},
    "x = net.same()": {"width", "slope"},
    "x = net.too()": {"width", "slope"},
    "x = getattr(net, named)(1)": {"width", "slope", "bias"},
    "exec(text); net(1)": {"width", "slope", "bias"},
    "x = dataclasses.replace(row)": {"slope"},
    "x = copy.copy(fit)": {"width"},
    "x = copy.copy(table)": set(),
    "x = table.limits['low']()": {"slope"},
    "x = table.steps": {"bias"},
    "x = known.run()": set(),
    "class Other(Kind): pass": {"width"},
    "x = type('Other', (type(known),), {})": {"width"},
    "x = dataclasses.asdict(options)": {"width"},
}


@pytest.mark.parametrize(("cell", "reads"), CALLS.items(), ids=CALLS)
def test_what_members_read(notebook, cell, reads):
    """What a constructor reads counts where an object may be made; a method's, where it is named."""
    notebook.run(BUILT)
    assert {*notebook.dependencies(cell).names} & {"width", "slope", "bias"} == reads


@pytest.mark.parametrize(
    "cell",
    [
        "x = show('width')",
        "x = vars(Net)",
        "exec(text)\nx = Net()",
        "match net:\n    case Net(3): x = 1",
        "x = frame.query(asked)",
    ],
)
def test_code_that_may_call_any(notebook, cell):
    """A method may be called by a text, and code that is not known may call all."""
    notebook.run(HELD)
    assert "Net" not in notebook.dependencies(cell).parts


def test_a_base_that_calls_by_name(notebook):
    """A package's base may call methods by names that it puts together."""
    notebook.run(HELD)
    assert "Action" not in notebook.dependencies("x = Action").parts
