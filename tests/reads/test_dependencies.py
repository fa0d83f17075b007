"""The values that a cell reads, through everything that it calls."""

from __future__ import annotations

import textwrap
import types

import pytest

from ipytorchseed.reads.dependencies import look_up

HELD = """
import functools, dataclasses, torch, numpy as np
from torch import nn
scale, offset, weights = 2, 3, [1, 2]
def f(x): return x * scale
def g(x): return f(x) + offset
h = lambda x: x + offset
"""

CASES = {
    # directly
    "scale": "scale",
    "x = 1": "",
    "np.ones(3)": "",
    "print(len(weights))": "weights",
    "missing": "",
    # formulas of models
    "ols('y ~ x + np.log(scale)', data=weights)": "scale weights",
    "formula = 'y ~ scale:x'\nols(formula)": "scale",
    "open('~/scale/offset')": "",
    "weights.append(scale)": "weights scale",
    "_ + __ + _1 + _i1 + In[3] + Out[3]": "_ __ _1 _i1",
    "__name__, __file__": "",
    "get_ipython().run_cell('x')": "",
    "nn.Linear(scale, 1)": "scale",
    # functions
    "f(1)": "f scale",
    "g(1)": "g f scale offset",
    "fs = [f]": "f scale",
    "map(h, weights)": "h offset weights",
    "scale = 3\nf(1)": "f scale",
    "f(1)\nscale = 3": "f scale",
    "f(1)\nscale = 3\ng(1)": "f g scale offset",
    "scale = 3\ng(1)": "f g offset scale",
    "def f(x): return x\ng(1)": "g f offset scale",
    "def f(x): return weights\ng(1)": "g f offset scale weights",
    "def f(x): return h(x)\ng(1)": "g f offset scale h",
    "if abs(scale): offset = 1\ng(1)": "scale g f offset",
    "def k(): return g(1)\nk()": "g f scale offset",
    "def k(): return g(1)": "",
}


@pytest.mark.parametrize("cell", CASES)
def test_cells(notebook, cell):
    """A cell reads its own names, and those of the earlier functions that it calls."""
    notebook.run(HELD, In=[1], Out={3: 1}, _=1, __=2, _1=3, _i1="x", get_ipython=print)
    assert notebook.inputs(cell) == set(CASES[cell].split())


MADE = {
    "a partial": ("p = functools.partial(f, 1)", "scale"),
    "a partial's arguments": ("p = functools.partial(print, h, k=f)", "scale offset"),
    "a partialmethod": ("class A:\n    m = functools.partialmethod(f, 1)\np = A()", "A scale"),
    "a cached function": ("@functools.lru_cache\ndef p(x): return scale", "scale"),
    "a cached property": (
        "class A:\n    @functools.cached_property\n    def m(self): return scale\np = A()", "A scale",
    ),
    "a wrapped function": (
        "def d(f):\n    @functools.wraps(f)\n    def w(*a): return f(*a) + offset\n    return w\n"
        "@d\ndef p(x): return scale", "scale offset",
    ),
    "a vectorized function": ("p = np.vectorize(f)", "scale"),
    "a formatter": (
        "from matplotlib.ticker import FuncFormatter\np = FuncFormatter(lambda x, at: x * offset)", "offset",
    ),
    "a single dispatch": (
        "@functools.singledispatch\ndef p(x): return scale\n@p.register\ndef _(x: int): return offset",
        "scale offset",
    ),
    "a package's decorator": ("@torch.no_grad()\ndef p(x): return scale", "scale"),
    "a closure": ("def make(s):\n    def p(x): return x * s + offset\n    return p\np = make(1)", "offset"),
    "a closure over a function": ("def make(s):\n    return lambda x: s(x)\np = make(f)", "scale"),
    "a default": ("def p(x, s=f): return s(x)", "scale"),
    "a default by name": ("def p(x, *, s=f): return s(x)", "scale"),
    "a method": ("class A:\n    def m(self): return scale\na = A()\np = a.m", "A scale"),
    "a method that is never called": (
        "class A:\n    def __init__(self): self.x = scale\n    def m(self): return 1\n"
        "    def other(self): return offset\np = A()",
        "A scale offset",
    ),
    "an object": ("class A:\n    def m(self): return scale\np = A()", "A scale"),
    "a class": ("class p:\n    def m(self): return scale", "scale"),
    "a class method": ("class p:\n    @classmethod\n    def m(c): return scale", "scale"),
    "a static method": ("class p:\n    @staticmethod\n    def m(): return scale", "scale"),
    "a property": ("class A:\n    @property\n    def m(self): return scale\np = A()", "A scale"),
    "a class's attribute": ("class A:\n    step = f\np = A()", "A scale"),
    "a base": ("class B:\n    def m(self): return scale\nclass A(B): pass\np = A()", "A B scale"),
    "a metaclass": (
        "class M(type):\n    def __call__(c): return type.__call__(c) or scale\n"
        "class p(metaclass=M): pass", "M scale",
    ),
    "an attribute": ("class A: pass\np = A()\np.step = g", "A f scale offset"),
    "a slot": ("class A:\n    __slots__ = ['step']\np = A()\np.step = f", "A scale"),
    "a dataclass": (
        "@dataclasses.dataclass\nclass A:\n    x: list = dataclasses.field(default_factory=lambda: scale)\n"
        "p = A", "A scale",
    ),
    "in a dictionary": ("p = {'a': {'b': [f]}}", "scale"),
    "in a tuple, a set": ("p = ({f}, frozenset([h]))", "scale offset"),
    "a module": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = nn.Linear(1, 1)\n    def forward(self, x): return self.a(x) * scale\np = Net()",
        "Net scale",
    ),
    "modules inside": (
        "class Block(nn.Module):\n    def forward(self, x): return f(x)\n"
        "p = nn.Sequential(nn.Sequential(nn.Sequential(nn.ReLU(), Block())))", "Block f scale",
    ),
    "many modules": (
        "class Block(nn.Module):\n    def forward(self, x): return f(x)\n"
        "p = nn.ModuleList([nn.ReLU() for _ in range(40)] + [Block()])", "Block f scale",
    ),
    "a hook": ("p = nn.Linear(1, 1)\n_ = p.register_forward_hook(lambda *a: scale)", "scale"),
    "a loader": (
        "class Data(torch.utils.data.Dataset):\n"
        "    def __init__(self): self.transform = Compose([f])\n"
        "    def __len__(self): return 1\n"
        "class Compose:\n    def __init__(self, t): self.t = t\n"
        "p = torch.utils.data.DataLoader(torch.utils.data.Subset(Data(), [0]), collate_fn=h)",
        "Data Compose f scale offset",
    ),
    "a scheduler": (
        "o = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1)\n"
        "p = torch.optim.lr_scheduler.LambdaLR(o, lambda e: scale)", "scale",
    ),
    "a generator": ("def gen():\n    yield scale\np = gen()", "scale"),
    "a map": ("p = map(f, weights)", "scale"),
    "a chain": ("import itertools\np = itertools.chain(map(f, weights))", "scale"),
    "a bound method of a list": ("p = [f].append", "scale"),
    "itself": ("def p(n): return n and p(n - 1) * scale", "scale"),
    "a circle": ("class A: pass\np = A(); p.me = p; p.all = [p, f]", "A scale"),
}  # fmt: skip


@pytest.mark.parametrize("case", MADE.values(), ids=MADE)
def test_values(notebook, put_back, case):
    """The user's code is found in any object, with the names that it reads."""
    code, found = case
    notebook.run(HELD, code)
    assert notebook.inputs("p, p.m") - {"gen"} == {"p", *found.split()}


def test_redefined_class(notebook):
    """After its class is redefined, an object still reads the old class's code."""
    notebook.run(HELD, "class A:\n    def m(self): return scale\na = A()")
    notebook.run("class A:\n    def m(self): return offset")
    assert notebook.inputs("a.m()") == {"a", "scale"}
    assert notebook.inputs("A().m()") == {"A", "offset"}


def test_places(notebook):
    """Each value can be looked up again at its place."""
    notebook.run(HELD)
    found = notebook.dependencies("g(1)")
    assert {name: look_up(place, notebook.names) for name, place in found.names.items()} == {
        name: notebook.names[name] for name in ("f", "g", "scale", "offset")
    }
    notebook.names.pop("scale")
    with pytest.raises(KeyError):
        look_up(found.names["scale"], notebook.names)


def test_hidden(notebook):
    """Names that the shell hides are no inputs."""
    notebook.run("x = y = 1")
    assert {*notebook.dependencies("x, y", hidden={"y"}).names} == {"x"}


PACKAGES = {
    "np.ones(3)": {"numpy"},
    "import pandas": {"pandas"},
    "x = 1": set(),
    "print(1)": set(),
    "net(1)": {"torch"},
    "f(1)": {"torch", "functools"},
    "g(1)": {"json"},
    "a": {"numpy"},
    "[a]": {"numpy"},
    "fs[0]()": {"torch", "functools"},
}


@pytest.mark.parametrize("cell", PACKAGES)
def test_packages(notebook, put_back, cell):
    """A cell uses the packages of everything that it reaches."""
    notebook.run(
        """
        import functools, numpy as np, torch
        net = torch.nn.Linear(1, 1)
        def f(x): return functools.reduce(torch.add, x)
        def g(x):
            import json
        a = np.ones(3)
        fs = [f]
        """
    )
    assert {name.partition(".")[0] for name in notebook.dependencies(cell).packages} == PACKAGES[
        cell
    ]


def test_functions_of_packages(notebook):
    """A package's functions are no inputs, however they were imported."""
    notebook.run(
        """
        from random import random, shuffle, choice
        from numpy.random import rand, default_rng, seed
        from numpy import ones, ufunc, add
        from torch import randn, nn, manual_seed, Tensor
        from torch.nn import functional as F, Linear
        from math import sin
        from os.path import join
        from functools import partial
        from collections import OrderedDict
        from secrets import token_hex
        from datetime import datetime
        """
    )
    names = [name for name in notebook.names if not name.startswith("__")]
    assert notebook.inputs("; ".join(names)) <= {"add"}


def test_aliases_of_what_packages_give(notebook):
    """A user's alias for a package's function or class is an input: it may change."""
    notebook.run("import torch; from torch import relu; from torch.optim import SGD")
    notebook.run("act, Optimizer, show = torch.relu, torch.optim.SGD, print")
    cell = "relu(1); act(1); Optimizer([]); SGD([]); show(1); print(1)"
    assert notebook.inputs(cell) == {"act", "Optimizer", "show"}


def test_what_is_made_of_packages(notebook):
    """Instances of a package's classes, and their bound methods, are inputs."""
    notebook.run(
        """
        import random, numpy as np, torch
        from functools import partial
        draw = np.random.RandomState(0).rand
        roll = random.Random(0).random
        act = torch.nn.ReLU()
        relu = partial(torch.relu)
        rng = np.random.default_rng(0)
        seed = rng.bit_generator
        """
    )
    names = {"draw", "roll", "act", "relu", "rng", "seed"}
    assert notebook.inputs(", ".join(names)) == names


def test_writes(notebook):
    """Names that functions of earlier cells set are listed."""
    notebook.run("n = 0\ndef count():\n    global n\n    n += 1")
    found = notebook.dependencies("x = count()")
    assert found.writes == {"x", "n"}
    assert {*found.names} == {"count", "n"}


def test_a_function_without_its_source(notebook):
    """The compiled code is followed, even if its text is elsewhere."""
    notebook.run("k = 1\nf = eval('lambda: k')\nf.__code__ = (lambda: j).__code__\nj = 2")
    assert notebook.inputs("f()") == {"f", "j"}


def test_functions_of_another_main(notebook):
    """An unpickled function has its own globals, so it reads no names of the notebook."""
    names = {"__name__": "__main__", "k": 1}
    exec(textwrap.dedent("def f(): return k"), names)  # noqa: S102
    notebook.run("k = 2", f=names["f"])
    assert notebook.inputs("f()") == {"f"}


def test_wrappers_by_hand(notebook):
    """Attributes in which wrappers keep the wrapped function are followed."""

    def outer():
        return None

    notebook.run(HELD)
    inner = notebook.names["f"]
    bare = types.FunctionType(outer.__code__, {"__name__": "functools"})
    bare.__wrapped__ = inner
    bare.__module__ = "functools"
    assert notebook.run(p=bare).inputs("p()") == {"p", "scale"}
