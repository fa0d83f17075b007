"""What functions and classes of the user's read of a value that a cell gives them."""

from __future__ import annotations

import pytest

HELD = """
from types import SimpleNamespace
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


@pytest.mark.parametrize(("cell", "parts"), PARTS.items(), ids=PARTS)
def test_what_is_read_of_what_is_given(notebook, cell, parts):
    """All branches count, and of items that are given by name those that are taken."""
    notebook.run(HELD)
    assert notebook.dependencies(cell).parts.get("args" if "args)" in cell else "cfg") == parts
