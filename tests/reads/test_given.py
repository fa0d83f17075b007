"""What functions and classes of the user's read of a value that a cell gives them."""

from __future__ import annotations

import pytest

HELD = """
from types import SimpleNamespace
import pandas as pd
df = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
def copied(t):
    t = t.copy()
    t["r"] = t["a"] * 2
    return t["r"].sum()
def kept(t):
    rows = t[t["a"] > 1].dropna(subset=["c"])
    rows["r"] = rows["a"] * 2
    return rows["r"].sum()
def grouped(t): return t.groupby("a")["b"].mean()
def made(t): return t.assign(r=lambda d: d["a"] / d["b"])["r"].sum()
def whole(t):
    t = t.copy()
    t["a"] = 0
    return t.sum().sum()
def gives(t):
    t = t.copy()
    t["r"] = t["a"]
    return t
def every_column(t): return t.assign(r=lambda d: d.sum())["r"]
cfg = {"width": 3, "deep": False, "depth": 2, "note": "", "kind": "plain"}
args = SimpleNamespace(width=3, deep=False, depth=2)
def make(width, depth=1, **_): return [width] * depth
def every(width, **others): return others
def some(width, note): return width
def placed(width, /, **_): return width
def build(c):
    if c["deep"]: return c["depth"]
    return c["width"]
def either(c): return c.depth if not c.deep else c.width
def kinds(c):
    if c["kind"] == "tall": return c["depth"]
def lent(c): return build(c)
def override(c): c["deep"] = True
def override_and_build(c):
    c["deep"] = True
    return build(c)
class Net:
    def __init__(self, c):
        super().__init__()
        self.width = c["width"]
class Deep(Net):
    def area(self): return 1
class Keeps:
    def __init__(self, c): self.c = c
class Odd:
    def __new__(cls, c): return object()
    def __init__(self, c): self.width = c["width"]
class Spread:
    def __init__(self, width, **_): self.width = width
"""

PARTS = {
    "x = make(**cfg)": {"k:width", "k:depth"},
    "x = every(**cfg)": None,
    "x = some(width=1, **cfg)": {"k:width"},
    "x = placed(1, **cfg)": set(),
    "x = Spread(**cfg)": {"k:width"},
    "x = dict(**cfg)": None,
    "x = build(cfg)": {"k:deep", "k:width", "k:depth"},
    "x = either(args)": {"a:deep", "a:depth", "a:width"},
    "x = kinds(cfg)": {"k:kind", "k:depth"},
    "x = lent(cfg)": {"k:deep", "k:width", "k:depth"},
    "cfg['deep'] = True\nx = build(cfg)": {"k:deep", "k:width", "k:depth"},
    "override(cfg)\nx = build(cfg)": {"k:deep", "k:width", "k:depth"},
    "x = override_and_build(cfg)": {"k:deep", "k:width", "k:depth"},
    "x = Net(cfg)": {"k:width"},
    "x = Deep(cfg)": {"k:width"},
    "x = Keeps(cfg)": None,
    "x = Odd(cfg)": None,
}


COLUMNS = {
    "copied": {"k:a", "k:r"}, "kept": {"k:a", "k:c", "k:r"}, "grouped": {"k:a", "k:b"},
    "made": {"k:a", "k:b", "k:r"}, "whole": {"a:sum"}, "gives": None, "every_column": {"a:assign"},
}  # fmt: skip


@pytest.mark.parametrize(("function", "columns"), COLUMNS.items(), ids=COLUMNS)
def test_columns_that_a_function_reads(notebook, function, columns):
    """Of the table that it is given, or of a copy or some rows of it; of nothing but a table."""
    notebook.run(HELD)
    assert notebook.dependencies(f"x = {function}(df)").parts.get("df") == columns
    of_others = notebook.dependencies(f"x = {function}(cfg)").parts.get("cfg")
    assert of_others in (None, {"a:assign"})  # which may be a method that looks at everything


@pytest.mark.parametrize(("cell", "parts"), PARTS.items(), ids=PARTS)
def test_what_is_read_of_what_is_given(notebook, cell, parts):
    """All branches count, and of items that are given by name those that are taken."""
    notebook.run(HELD)
    assert notebook.dependencies(cell).parts.get("args" if "args)" in cell else "cfg") == parts


MADE_HERE = {
    "def f(c): return c['width']\nx = f(cfg)": {"k:width"},
    "def f(x, c=None): return x * c['width']\nx = f(2, c=cfg)": {"k:width"},
    "def f(o): return o.depth\nx = [f(args) for _ in range(2)]": {"a:depth"},
    "def f(o, *, k): return k.depth\nx = f(1, k=args)": {"a:depth"},
    "def f(c): return build(c)\nx = f(cfg)": {"k:deep", "k:width", "k:depth"},
    "def g(c): return c['note']\ndef f(c): return g(c) + c['width']\nx = f(cfg)": {
        "k:note", "k:width",
    },
    "def f(c): return c['note']\ndef main(): return f(cfg)\nx = main()": {"k:note"},
    "def f(c, n): return f(c, n - 1) if n else c['note']\nx = f(cfg, 2)": {"k:note"},
    "f = lambda c: c['width']\nx = f(cfg)": {"k:width"},
    "def f(c): return c\nx = f(cfg)": None,
    "def f(c): return c['note']\nx = f(cfg)\ny = len(cfg)": {"k:note", "a:__len__"},
    "def f(c): return [*c]\nx = f(cfg)": None,
    "def f(*c): return c[0]['note']\nx = f(cfg)": None,
    "def f(c): return c['note']\ndef f(c): return c\nx = f(cfg)": None,
    "def f(c): return c['note']\nf = print\nx = f(cfg)": None,
    "if args.deep:\n    def f(c): return c['note']\nelse:\n    f = print\nx = f(cfg)": None,
    "@print\ndef f(c): return c['note']\nx = f(cfg)": None,
    "def f(c):\n    build = print\n    build(c)\nx = f(cfg)": None,
    "def f(c):\n    def g(): return c\n    return g\nx = f(cfg)": None,
    "def f(c): return c['note']\nx = f(*[cfg])": None,
    "def f(c): return c['note']\nx = map(f, [cfg])": None,
    "def f(c): return c['note']\ndef main(f): return f(cfg)\nx = main(print)": None,
}  # fmt: skip


@pytest.mark.parametrize(("cell", "parts"), MADE_HERE.items(), ids=MADE_HERE)
def test_what_functions_of_the_cell_itself_read(notebook, cell, parts):
    """The same goes for functions that the cell defines, where it is certain which one it calls."""
    notebook.run(HELD)
    assert notebook.dependencies(cell).parts.get("args" if "args)" in cell else "cfg") == parts
