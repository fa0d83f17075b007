"""Which methods of a class of the user's no code calls that a cell leads to."""

from __future__ import annotations

import pytest
import torch

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
    depth = 3
class Action(argparse.Action):
    def summary(self): return "an action"
net = Net()
def show(part): return getattr(net, part)()
from pandas import DataFrame
frame, asked = DataFrame({"n": [1]}), "n > @net.depth"
"""

UNUSED = {
    "x = Net()": {"summary", "width", "depth"},
    "x = net(torch.ones(1))": {"summary", "width", "depth", "__init__"},
    "net.eval()": {"summary", "width", "depth", "__init__"},
    "x = net.width": {"summary", "depth", "__init__"},
    "x = net.summary()": {"width", "depth", "__init__"},
    "x = getattr(net, 'summary')()": {"width", "depth", "__init__"},
    "x = [f(net) for f in [lambda each: each.width]]": {"summary", "depth", "__init__"},
    "x = net.depth": {"summary", "width", "__init__"},
    "x = '{0.depth:>3}'.format(net)": {"summary", "width", "__init__"},
    "x = frame.query('n > @net.depth')": {"summary", "width", "__init__"},
    "match net:\n    case Net(depth=3): x = 1": {"summary", "width"},
}


@pytest.mark.parametrize(("cell", "unused"), UNUSED.items(), ids=UNUSED)
def test_methods_that_nobody_calls(notebook, cell, unused):
    """Those that a base or a package may call count as called; data likewise."""
    notebook.run(HELD)
    assert notebook.dependencies(cell).parts["Net"] == {"-", *(f"-a:{each}" for each in unused)}


BUILT = """
import collections, copy, dataclasses, functools, operator, torch
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
    def eval(self, x): return x + bias
    @property
    def moved(self): return bias
    def reset(self): self.__init__()
    @classmethod
    def fresh(cls): return cls()
    def same(self): return type(self)()
    def too(self): return self.__class__()
class Other:
    def __init__(self): super().__init__()
class Over(Net):
    def __call__(self, x): return super().__call__(x)
    def anew(self): super().__init__()
    def own(self): return super() and __class__()
class Later:
    def again(self): self.__post_init__()
    def __post_init__(self): self.x = slope
class Rated:
    @property
    def rate(self): return self._rate
    @rate.setter
    def rate(self, rate): self._rate = rate * slope
class Failure(Exception):
    def __init__(self, text): self.width = width
class Parts:
    part: Net
    def __init__(self): self.part = Net()
class Twice(torch.nn.Module):
    def forward(self, weight): return weight
    def right_inverse(self, weight): return weight / slope
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
many = [[torch.nn.Identity() for _ in range(40)] for _ in range(40)]
many.append([functools.partial(lambda each: each.shift(1))])
over, later, rated, failure, parts = Over(), Later(), Rated(), Failure("no"), Parts()
nets, empty = collections.defaultdict(Net, a=net), collections.defaultdict(Net)
ask, moved, shift = getattr, operator.attrgetter("moved"), operator.methodcaller("shift", 1)
asked, shown = functools.partial(getattr, net), "{0.moved}"
corpus = " " * 10_000 + shown
layer = torch.nn.Linear(1, 1)
torch.nn.utils.parametrize.register_parametrization(layer, "weight", Twice())
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
    "x = [each(net) for some in many for each in some]": {"width", "slope", "bias"},
    "exec(text); net(1)": {"width", "slope", "bias"},
    "x = dataclasses.replace(row)": {"slope"},
    "x = copy.copy(fit)": {"width"},
    "x = copy.copy(failure)": {"width"},
    "x = parts.__annotations__['part']()": {"width", "slope"},
    "x = nets['b']": {"width", "slope"},
    "x = empty['b']": {"width", "slope"},
    "x = over(1)": set(),
    "over.anew()": {"width", "slope"},
    "x = over.own()": {"width", "slope"},
    "later.again()": {"slope"},
    "setattr(rated, named, 1)": {"slope"},
    "layer.weight = torch.ones(1, 1)": {"slope"},
    "x = net.eval(1)": {"bias"},
    "x = '{0.moved}'.format(net)": {"bias"},
    "x = shown.format(net)": {"bias"},
    "x = corpus.split(), net(1)": set(),
    "match net:\n    case Net(moved=x): pass": {"width", "slope", "bias"},
    "x = getattr(net, 'reshift'[2:])(1)": {"width", "slope", "bias"},
    "x = ask(net, named)(1)": {"width", "slope", "bias"},
    "x = asked(named)(1)": {"width", "slope", "bias"},
    "x = moved(net)": {"width", "slope", "bias"},
    "x = sorted([net], key=shift)": {"width", "slope", "bias"},
    "from operator import attrgetter as a; x = a(named)(net)": {"width", "slope", "bias"},
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


DATA_CLASS = """
import dataclasses, copy
@dataclasses.dataclass
class Config:
    lr: float = 0.1
    layers: list = dataclasses.field(default_factory=list)
    def rate(self): return self.lr * 2
    def __post_init__(self): self.seen = True
config, text = Config(0.5), "a"
def make(): return Config()
"""

WRITTEN = {"lr", "__init__", "__post_init__", "__eq__", "__repr__", "__match_args__"} | {
    "__dataclass_fields__"
}

UNASKED = {
    "x = config.lr": WRITTEN | {"rate"},
    "x = config.rate()": WRITTEN,
    "print(config)": WRITTEN | {"rate"},
    "x = copy.deepcopy(config).lr": WRITTEN | {"rate"},
    "x = Config(0.3).lr": {"rate"},
    "x = make().lr": {"rate"},
    "x = dataclasses.replace(config, lr=2).lr": {"rate"},
    "x = dataclasses.fields(config)[0].default": {"rate"},
    "x = type(config)().lr": {"rate"},
    "x = isinstance(config, Config)": {"rate"},
}


@pytest.mark.parametrize(("cell", "unread"), UNASKED.items(), ids=UNASKED)
def test_what_a_data_class_is_made_with(notebook, cell, unread):
    """Its objects have all fields themselves: defaults count where one is made, or asked for."""
    notebook.run(DATA_CLASS)
    parts = notebook.dependencies(cell).parts["Config"]
    assert {each[3:] for each in parts if each[:3] == "-a:"} - {"__replace__"} == unread


def test_fields_that_objects_may_lack(notebook):
    """Of a class whose ``__init__`` leaves one out, or is the user's own, any default may count."""
    notebook.run(
        "import dataclasses\n@dataclasses.dataclass\nclass Half:\n"
        "    lr: float = 0.1\n    act: float = dataclasses.field(init=False, default=2.0)\n"
        "@dataclasses.dataclass(init=False)\nclass Own:\n    lr: float = 0.1\n"
        "half, own = Half(), Own()"
    )
    assert notebook.dependencies("x = half.act").parts["Half"].isdisjoint({"-a:lr", "-a:act"})
    assert "-a:lr" not in notebook.dependencies("x = own.lr").parts["Own"]


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


def test_a_method_put_into_a_package(notebook, monkeypatch):
    """It may call members by texts as well."""
    notebook.run(BUILT + "def foo(self): return getattr(net, 'tfihs'[::-1])(self)")
    monkeypatch.setattr(torch.Tensor, "foo", notebook.names["foo"], raising=False)
    patched = {"torch.Tensor.foo": ("torch", "Tensor.foo")}
    cell = "x = torch.ones(1).foo()"
    assert "bias" in notebook.dependencies(cell, patched=patched).names
