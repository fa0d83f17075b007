"""Functions and classes are identified by what they do."""

from __future__ import annotations

import functools
import textwrap

import pytest
import torch

from ipytorchseed.fingerprint import fingerprint


def define(source, name="f"):
    """Run a definition and return what it defines."""
    namespace = {"__name__": "__main__", "functools": functools}
    exec(compile(textwrap.dedent(source), f"<cell {id(source)}>", "exec"), namespace)  # noqa: S102
    return namespace[name]


SAME = {
    "place": ("def f(x): return x + 1", "\n\n\ndef f(x):\n    return x + 1"),
    "comment": ("def f(x):\n  return x", "def f(x):\n  # why\n  return x"),
    "docstring": ("def f(x):\n  return x, None, 1", 'def f(x):\n  "Doc."\n  return x, None, 1'),
    "other docstring": ('def f(x):\n  "A."\n  return "b"', 'def f(x):\n  "B."\n  return "b"'),
    "annotation": ("def f(x): return x", "def f(x: int) -> int: return x"),
    "inner docstring": (
        "def f():\n  def g():\n    return 1\n  return g",
        'def f():\n  def g():\n    "Doc."\n    return 1\n  return g',
    ),
    "local variable": (
        'def f(x, *y):\n  "Of a."\n  a = x\n  return f"{a} ab"',
        'def f(x, *y):\n  "Of b."\n  b = x\n  return f"{b} ab"',
    ),
    "local variable of a method": (
        "class f:\n  def g(self):\n    a = 1\n    return a",
        "class f:\n  def g(self):\n    b = 1\n    return b",
    ),
    "class docstring": ("class f:\n  x = 1", 'class f:\n  "Doc."\n\n  x = 1'),
}

DIFFER = {
    "constant": ("def f(x): return x + 1", "def f(x): return x + 2"),
    "type of constant": ("def f(x): return x + 1", "def f(x): return x + 1.0"),
    "sign of zero": ("def f(x): return 0.0", "def f(x): return -0.0"),
    "parameter": ("def f(x): return x", "def f(y): return y"),
    "parameter by name": ("def f(*, x): return x", "def f(*, y): return y"),
    "parameters": ("def f(*x, **z): return z", "def f(*x, **y): return y"),
    "operator": ("def f(x): return x + 1", "def f(x): return x - 1"),
    "name": ("def f(x): return a(x)", "def f(x): return b(x)"),
    "attribute": ("def f(x): return x.a", "def f(x): return x.b"),
    "inner": ("def f(): return lambda: 1", "def f(): return lambda: 2"),
    "tuple": ("def f(): return (1, (2,))", "def f(): return (1, (3,))"),
    "set": ("def f(x): return x in {1, 2}", "def f(x): return x in {1, 3}"),
    "default": ("def f(x=1): return x", "def f(x=2): return x"),
    "keyword default": ("def f(*, x=1): return x", "def f(*, x=2): return x"),
    "except": (
        "def f(x):\n  try: return a(x)\n  except KeyError: return 1",
        "def f(x):\n  try: return a(x)\n  except ValueError: return 1",
    ),
    "method": ("class f:\n  def g(self): return 1", "class f:\n  def g(self): return 2"),
    "class attribute": ("class f: x = 1", "class f: x = 2"),
    "base": ("class f(list): pass", "class f(dict): pass"),
    "property": (
        "class f:\n  @property\n  def g(self): return 1",
        "class f:\n  @property\n  def g(self): return 2",
    ),
    "static method": (
        "class f:\n  @staticmethod\n  def g(): return 1",
        "class f:\n  @staticmethod\n  def g(): return 2",
    ),
    "class method": (
        "class f:\n  @classmethod\n  def g(cls): return 1",
        "class f:\n  @classmethod\n  def g(cls): return 2",
    ),
    "cached": (
        "@functools.cache\ndef f(x): return 1",
        "@functools.cache\ndef f(x): return 2",
    ),
    "wrapped": (
        "def d(g):\n  return functools.wraps(g)(lambda *a: g(*a))\n@d\ndef f(x): return 1",
        "def d(g):\n  return functools.wraps(g)(lambda *a: g(*a))\n@d\ndef f(x): return 2",
    ),
    "generator": ("def f(): yield 1", "def f(): yield 2"),
    "many constants": (
        "def f(): return [" + ",".join(f"a({n}.5)" for n in range(300)) + "]",
        "def f(): return [" + ",".join(f"a({n}.5)" for n in range(299)) + ",a(0.25)]",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_how_it_is_written_is_no_content(name):
    """Lines, comments, docstrings, annotations."""
    one, other = (fingerprint(define(source)) for source in SAME[name])
    assert one.digest == other.digest


@pytest.mark.parametrize("name", DIFFER)
def test_what_it_does_is_content(name):
    """Down to constants of inner functions."""
    one, other = (fingerprint(define(source)) for source in DIFFER[name])
    assert one.digest != other.digest
    assert one.exact


def test_running_does_not_change_a_function():
    """The interpreter specialises what runs often."""
    made = define("def f(x): return x + 1")
    before = fingerprint(made)
    for n in range(1000):
        made(n)
    assert fingerprint(made) == before


def test_compiled_is_known_by_what_was_compiled():
    """Functions and modules; nothing is compiled for it."""
    one, other = (define(f"def f(x): return x + {n}") for n in (1, 2))
    assert fingerprint(torch.compile(one)).digest != fingerprint(torch.compile(other)).digest
    assert fingerprint(torch.compile(one)).digest == fingerprint(torch.compile(one)).digest
    net = torch.nn.ReLU()
    assert fingerprint(torch.compile(net)).digest == fingerprint(net).digest


def test_a_librarys_function_is_known_by_its_name(monkeypatch):
    """A function that replaces it in the module has another digest."""
    before = fingerprint(textwrap.dedent)
    assert before.parts == {}
    assert before.exact
    monkeypatch.setattr(textwrap.dedent, "seen", [1], raising=False)
    assert fingerprint(textwrap.dedent) == before
    assert fingerprint([textwrap.dedent]).digest != fingerprint([textwrap.indent]).digest
    mine = define("def dedent(text): return text", "dedent")
    monkeypatch.setattr(textwrap, "dedent", mine)
    assert fingerprint(textwrap.dedent).digest != before.digest


def test_objects_follow_the_name_of_their_class():
    """Its code is a matter of the class as a value."""
    one, other = (define(f"class f:\n  def g(self): return {n}") for n in (1, 2))
    assert fingerprint(one()).digest == fingerprint(other()).digest


def test_a_function_that_holds_itself():
    """Its closure leads back to it."""
    made = define("def g():\n  def f(n): return n and f(n - 1)\n  return f\nf = g()")
    assert fingerprint(made).exact
