"""The names that a cell reads before it sets them, and those it may set."""

from __future__ import annotations

import sys
import textwrap

import pytest

from ipytorchseed.reads.actions import imports_of
from ipytorchseed.reads.cell import effects_of_cell


def follow(source):
    """Return the effects of a cell that is valid Python."""
    return effects_of_cell(textwrap.dedent(source), str)


def split(words):
    """Return the words of a text, as a set."""
    return {*words.split()}


CASES = {
    # simple statements
    "a constant": ("x = 1", "", "x"),
    "another name": ("x = y", "y", "x"),
    "itself": ("x = x + 1", "x", "x"),
    "set, then read": ("x = 1; y = x", "", "x y"),
    "several targets": ("x = y = z", "z", "x y"),
    "swap": ("a, b = b, a", "a b", "a b"),
    "unpacking": ("(a, [b, *c]) = d\ne = a, b, c", "d", "a b c e"),
    "an attribute is put into a thing that is there": ("net.lr = lr", "net lr", ""),
    "an item is put into a thing that is there": ("cfg[key] = value", "cfg key value", ""),
    "augmented": ("x += y", "x y", "x"),
    "augmented attribute": ("net.steps += n", "net n", ""),
    "augmented item": ("counts[k] += n", "counts k n", ""),
    "augmented after set": ("x = 0\nx += 1", "", "x"),
    "annotated": ("x: Tensor = y", "Tensor y", "x"),
    "annotated only": ("x: Tensor\ny = x", "Tensor x", "y"),
    "deleted": ("del x", "", "x"),
    "deleted, then set": ("del x; x = 1; y = x", "", "x y"),
    "an item deleted": ("del cfg['a'], other.b", "cfg other", ""),
    "asserted": ("assert x, message", "x message", ""),
    "shown": ("x", "x", ""),
    "nothing": ("pass", "", ""),
    # modules
    "import": ("import numpy as np\nnp.ones(n)", "n", "np"),
    "import of a part": ("import os.path\nos.path.join(a)", "a", "os"),
    "import of a part as": ("import os.path as p\np.join(os)", "os", "p"),
    "import from": ("from math import pi, sin as s\ns(pi)", "", "pi s"),
    "import in a try": (
        "try:\n    import cupy as xp\nexcept ImportError:\n    import numpy as xp\nxp.ones(3)",
        "ImportError",
        "xp",
    ),
    "import if": ("if fast:\n    import cupy as xp\nxp.ones(3)", "fast xp", "xp"),
    # branches
    "if": ("if c: x = 1\ny = x", "c x", "x y"),
    "if and else": ("if c: x = 1\nelse: x = 2\ny = x", "c", "x y"),
    "elif without else": ("if c: x = 1\nelif d: x = 2\ny = x", "c d x", "x y"),
    "a branch that leaves": ("if c: x = 1\nelse: raise Stop\ny = x", "c Stop x", "x y"),
    "conditional expression": ("y = (x := 1) if c else x", "c x", "x y"),
    "or": ("a or (b := 1)\nb", "a b", "b"),
    "and in a condition": ("if (m := match(t)) and (n := m.group()): use(n, m)", "match t use n", "m n"),
    "and, outside": ("if a and (n := f()): pass\nn", "a f n", "n"),
    "or in a condition": ("if a or (n := f()): n", "a f n", "n"),
    "not": ("if not (a and (n := 1)): n\nelse: n", "a n", "n"),
    "match": (
        "match v:\n    case {'k': x, **rest}: x, rest\n    case Point(x=0, y=q): q\n"
        "    case [first, *others] if ok: first, others\n    case Color.RED: x",
        "v Point ok Color x",
        "x rest q first others",
    ),
    "match of everything": (
        "match v:\n    case 1: x = 1\n    case _: x = 2\ny = x", "v x", "x y",
    ),
    "match of some": ("match v:\n    case 1: x = 1\n    case 2: x = 2\ny = x", "v x", "x y"),
    "if False": ("if False: x = y\nelse: z\nx", "x y z", "x"),
    # loops
    "for": ("for l in loader: loss = f(l)\nloss.item()", "loader f", "l loss"),
    "for, its variable": ("for i in range(n): pass\ni", "range n", "i"),
    "for, read before set": ("for i in xs:\n    use(last)\n    last = i", "xs use last", "i last"),
    "for, one look": ("for batch in loader: break\nbatch", "loader", "batch"),
    "for, broken off": ("for i in xs:\n    if c: break\n    y = 1\ny", "xs c y", "i y"),
    "for, passed over": ("for i in xs:\n    if c: continue\n    y = 1\ny", "xs c y", "i y"),
    "for and else": (
        "for i in xs:\n    if ok(i):\n        found = i\n        break\nelse: found = None\nfound",
        "xs ok",
        "i found",
    ),
    "for that leaves": ("for i in xs: raise Stop\ny", "xs Stop y", "i"),
    "for over items": ("for d[k] in xs: pass", "d k xs", ""),
    "while": ("while more(): x = 1\nx", "more", "x"),
    "while True": ("while True:\n    x = step()\n    if x: break\nx", "step", "x"),
    "while True, set after the way out": (
        "while True:\n    if c: break\n    x = 1\nx", "c x", "x",
    ),
    # try and with
    "try": ("try: x = f()\nexcept E: pass\nx", "f E", "x"),
    "try, the error's look": ("try: x = f()\nexcept E: print(x)", "f E print x", "x"),
    "try, what was set before it fails": (
        "try:\n    i = 0\n    f(i)\nexcept E as e: print(i, e)", "f E print i", "i e",
    ),
    "try in a loop, stopped": (
        "try:\n    for i in xs: f(i)\nexcept KeyboardInterrupt: print(i)",
        "xs f KeyboardInterrupt print i",
        "i",
    ),
    "try, both ways": ("try: x = f()\nexcept E: x = g()\nx", "f E g", "x"),
    "try and else": ("try: f()\nexcept E: pass\nelse: x = 1\nx", "f E", "x"),
    "try that leaves": ("try: raise E\nexcept E: x = 1\nx", "E x", "x"),
    "finally": ("try: x = f()\nfinally: y = 1\nx, y", "f", "x y"),
    "with": ("with open(p) as f: t = f.read()\nt, f", "open p", "f t"),
    "with, several": ("with a() as x, b(x) as (y, z): pass\ny", "a b", "x y z"),
    "with that swallows": ("with suppress(E): raise E\nx", "suppress E x", ""),
    # scopes
    "list comprehension": ("y = [f(x) for x in xs if x > k]", "f xs k", "y"),
    "its variable is its own": ("[x for x in xs]\nx", "xs x", ""),
    "nested comprehension": ("[a * b for a in m for b in a]", "m", ""),
    "the first iterable is outside": ("[x for x in x]", "x", ""),
    "walrus in a comprehension": ("[last := x for x in xs]\nlast", "xs", "last"),
    "generator": ("sum(w * x for x in xs)", "sum w xs", ""),
    "dictionary": ("{k: v + d for k, v in items}", "d items", ""),
    "lambda": ("f = lambda x, y=start: x + y + k\nf(1)", "start k", "f"),
    "f-string": ("f'{x:{width}} {y!r}'", "x width y", ""),
    "async": (
        "async with a() as c:\n    async for x in b(): await x\ny = [z async for z in c]", "a b", "c x y",
    ),
    "exec of a text": ("exec('x = y')\nx", "exec y", "x"),
    "eval of a text": ("z = eval('x + y')", "eval x y", "z"),
    "globals": ("globals()['x'] = globals()['y']\nx", "y", "x"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_names(case):
    """A name is read if it may hold its earlier value, and set if it may be set."""
    source, reads, writes = case
    effects = follow(source)
    assert ({*effects.reads} - {"__name__"}, effects.writes) == (split(reads), split(writes))


INSIDE = {
    # functions that the cell makes
    "defined, not called": ("def f(): return scale", "", "f"),
    "called": ("def f(): return scale\nf()", "scale", "f"),
    "called after its name is set": ("def f(): return scale\nscale = 2\nf()", "", "f scale"),
    "called before": ("def f(): return scale\nf()\nscale = 2", "scale", "f scale"),
    "its arguments": ("def f(a, /, b, *c, d=e, **g): return a, b, c, d, g\nf()", "e", "f"),
    "its own names": ("def f():\n    x = 1\n    return x\nf()", "", "f"),
    "a walrus in it": ("def f(): return (x := 1) + x\nf()\nx", "x", "f"),
    "a walrus in a comprehension in it": ("def f(): return [x := y for y in z], x\nf()", "z", "f"),
    "its patterns": ("def f(v):\n    match v:\n        case [x, *y]: return x, y\nf(1)", "", "f"),
    "its imports": ("def f():\n    import os as o\n    return o.name\nf()", "", "f"),
    "its annotations": ("def f(a: Tensor) -> Tensor: x: Tensor = a\nf(1)", "Tensor", "f"),
    "global": ("def f():\n    global n\n    n = 1\nf()\nn", "n", "f n"),
    "global, perhaps": ("def f():\n    global n\n    if c: n = 1\nf()\nn", "c n", "f n"),
    "global, after an early return": (
        "def f():\n    global n\n    if c: return\n    n = 1\nf()\nn", "c n", "f n",
    ),
    "global, set later": ("def f():\n    global n\n    yield\n    n = 1\nf()\nn", "n", "f n"),
    "nonlocal": (
        "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += k\n    g()\nf()", "k", "f",
    ),
    "a closure": ("def f(a):\n    def g(): return a + b\n    return g\nh = f(1)", "b", "f h"),
    "itself": ("def f(n): return n and f(n - 1) + k\nf(3)", "k", "f"),
    "each other": ("def f(): return g()\ndef g(): return f() + k\nf()", "k", "f g"),
    "through another": ("def f(): return k\ndef g(): return f()\ng()", "k", "f g"),
    "in a list, not called": ("def f(): return k\nfs = [f]", "k", "f fs"),
    "in a list": ("def f(): return k\nfs = [f]\nfs[0]()", "k", "f fs"),
    "in a dictionary": ("table = {'a': lambda: k}\ntable['a']()", "k", "table"),
    "put into a list": ("def f(): return k\nfs = []\nfs.append(f)\nfs[0]()", "k", "f fs"),
    "put into an item": ("table['a'] = lambda: k\ntable['a']()", "table k", ""),
    "under another name": ("def f(): return k\ng = f\nk = 1\ng()", "k", "f g k"),
    "given away": ("def f(x): return x + k\nmap(f, xs)", "map xs k", "f"),
    "given away by name": ("sorted(xs, key=lambda x: w[x])", "sorted xs w", ""),
    "an attribute of it": ("def f(): return k\nf.cache = 1", "k", "f"),
    "run in parallel": ("def f(): return k\nThread(target=f).start()", "Thread k", "f"),
    "redefined": ("def f(): return a\ndef f(): return b\nf()", "b", "f"),
    "one of two": ("def f(): return a\nif c:\n    def f(): return b\nf()", "a b c", "f"),
    "a default that is a function": ("def f(g=lambda: k): return g()\nf()", "k", "f"),
    "decorated, not called": ("@jit\ndef f(): return k", "jit k", "f"),
    "decorated": ("@jit\ndef f(): return k\nf()", "jit k", "f"),
    "decorated by a local function": (
        "def d(f):\n    def g(): return f() * w\n    return g\n@d\ndef f(): return k\nf()", "w k", "d f",
    ),
    "called by its decorator": ("@interact(x=3)\ndef f(x): return k", "interact k", "f"),
    "conditional": ("f = (lambda: a) if c else (lambda: b)\nf()", "a b c", "f"),
    "a generator": ("def f():\n    yield k\nfor x in f(): pass", "k", "f x"),
    "a coroutine": ("async def f(): return k\nawait f()", "k", "f"),
    "exec inside": ("def f(): return eval('y')\nf()", "eval y", "f"),
    # classes
    "class": ("class A(Base, metaclass=M):\n    x = y\n    z = x", "Base M y", "A"),
    "its annotations matter": ("class A:\n    x: int = k", "int k", "A"),
    "methods, not used": ("class A:\n    def m(self): return k", "", "A"),
    "methods, made": ("class A:\n    def __init__(self): self.w = k\na = A()", "k", "A a"),
    "methods, used": ("class A:\n    def m(self): return k\na = A()\na.m()", "k", "A a"),
    "methods, set between": ("class A:\n    def m(self): return k\na = A()\nk = 1\na.m()", "k", "A a k"),
    "called like a function": ("class A:\n    def __call__(self): return k\nA()()", "k", "A"),
    "operators": ("class A:\n    def __add__(self, o): return k\na = A()\na + 1", "k", "A a"),
    "iterated": ("class A:\n    def __iter__(self): return k\nfor x in A(): pass", "k", "A x"),
    "given away as an object": ("class A:\n    def m(self): return k\na = A()\nfit(a)", "fit k", "A a"),
    "given away as a class": ("class A:\n    def m(self): return k\nfit(A)", "fit k", "A"),
    "inherited": (
        "class A:\n    def m(self): return k\nclass B(A): pass\nb = B()\nb.m()", "k", "A B b",
    ),
    "its names are not its methods'": (
        "class A:\n    k = 1\n    def m(self): return k\nA().m()", "k", "A",
    ),
    "global in a class": ("class A:\n    global n\n    n = 1\nn", "", "A n"),
    "a property": ("class A:\n    @property\n    def p(self): return k\nA().p", "property k", "A"),
}  # fmt: skip


@pytest.mark.parametrize("case", INSIDE.values(), ids=INSIDE)
def test_inside(case):
    """A function's or class's reads count where it is called or passed on."""
    source, reads, writes = case
    if "annotations matter" in str(case) and sys.version_info >= (3, 14):
        reads = reads.replace("int", "")
    effects = follow(source)
    assert ({*effects.reads}, effects.writes) == (split(reads), split(writes))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 is newer")
@pytest.mark.parametrize(
    ("source", "reads", "writes"),
    [
        ("type Pair = tuple[T, U]", "", "Pair"),
        ("def f[T](x: T) -> list[T]: return T\nf(1)", "", "f"),
        ("class A[T](Base[T]): pass", "Base", "A"),
    ],
)
def test_type_parameters(source, reads, writes):
    """Type parameters are local names; type aliases are evaluated lazily."""
    effects = follow(source)
    assert ({*effects.reads}, effects.writes) == (split(reads), split(writes))


@pytest.mark.parametrize(
    ("source", "packages"),
    [
        ("import torch.nn as nn, numpy", {"torch", "numpy"}),
        ("from sklearn.svm import SVC", {"sklearn"}),
        ("def f():\n    import pandas\nf()", {"pandas"}),
        ("from . import x", set()),
    ],
)
def test_packages(source, packages):
    """The packages that a cell imports are recorded, also in functions that it calls."""
    assert imports_of(follow(source).actions) == packages
