"""Branches that do not run, as names that decide on them hold what they hold."""

from __future__ import annotations

import pytest

HELD = """
from torch import autocast
debug, mode, limit, seen = False, "sum", None, True
extra, table = [1], {"a": 1}
def total():
    if mode == "sum":
        return seen
    return table["a"]
def more(debug):
    return extra if debug else seen
def switch():
    global debug
    debug = True
class Odd:
    def __bool__(self): raise SystemExit
odd = Odd()
from types import SimpleNamespace
from argparse import Namespace
cfg = {"debug": False, "mode": "sum", "inner": {"deep": False}, "n": 0}
args = SimpleNamespace(debug=False, inner=Namespace(deep=False))
class Settings:
    debug = False
    @property
    def shown(self): return False
settings = Settings()
def by_key():
    return extra if cfg["debug"] else seen
def override(): cfg["debug"] = True
def toggle(): settings.debug = True
"""

READS = {
    "if debug: x = extra": {"debug"},
    "x = 1 if not debug else extra": {"debug"},
    "if debug or mode == 'mean': x = extra\nelse: x = seen": {"debug", "mode", "seen"},
    "if limit is not None: x = extra": {"limit"},
    "if debug and limit and table['a'] > 1: x = extra": {"debug", "limit", "table"},
    "if seen or limit: x = seen\nelse: x = extra": {"seen", "limit"},
    "if debug and total(): x = extra": {"debug"},
    "if False and limit: x = extra": set(),
    "if limit is None: x = extra": {"limit", "extra"},
    "if seen is 1: x = extra": {"seen"},
    "if seen == 1: x = extra": {"seen", "extra"},
    "x = total()": {"total", "mode", "seen"},
    "mode = 'mean'\nx = total()": {"total", "seen", "table"},
    "x = more(True)": {"more", "extra"},
    "x = more(mode)": {"more", "mode", "extra"},
    "x = more(limit)": {"more", "limit", "seen"},
    "x = more(debug=mode == 'mean')": {"more", "mode", "seen"},
    "x = more(cfg['debug'])": {"more", "cfg", "seen"},
    "x = more(debug or limit)": {"more", "debug", "limit", "seen"},
    "x = [more(limit) for seen in (1, 2)]": {"more", "limit", "seen"},
    "x = more(str(limit))": {"more", "limit", "extra", "seen"},
    "x = more(odd)": {"more", "odd", "Odd", "extra", "seen"},
    "limit = len(extra)\nx = more(limit)": {"more", "extra", "seen"},
    "x = more(limit)\nlimit = extra": {"more", "limit", "extra", "seen"},
    "x = [more(limit) for limit in (0, 1)]": {"more", "extra", "seen"},
    "for limit in (0, 1): x = more(limit)": {"more", "extra", "seen"},
    "f = lambda limit: more(limit)\nx = f(1)": {"more", "extra", "seen"},
    "def f(limit):\n    def g(): return more(limit)\n    return g()\nx = f(1)": {
        "more",
        "extra",
        "seen",
    },
    "switch()\nx = more(debug)": {"switch", "debug", "more", "extra", "seen"},
    "override()\nx = more(cfg['debug'])": {"override", "cfg", "more", "extra", "seen"},
    "cfg['debug'] = True\nx = more(cfg['debug'])": {"cfg", "more", "extra", "seen"},
    "exec(text)\nx = more(limit)": {"more", "limit", "extra", "seen"},
    "x = list(map(more, (1,))), more(limit)": {"more", "limit", "extra", "seen"},
    "if (debug or limit) == limit: x = extra": {"debug", "limit", "extra"},
    "debug = seen\nif debug: x = extra": {"seen", "extra"},
    "switch()\nif debug: x = extra": {"switch", "debug", "extra"},
    "for debug in (0, 1):\n    if debug: x = extra": {"extra"},
    "if odd: x = extra": {"odd", "extra", "Odd"},
    "while debug: x = extra": {"debug"},
    "if seen > 2: x = extra": {"seen"},
    "if mode in ('sum', 'mean'): x = extra": {"mode", "extra"},
    "if mode not in ('sum', 'mean'): x = extra": {"mode"},
    "if mode > 2: x = extra": {"mode", "extra"},
    "exec(text)\nif debug: x = extra": {"debug", "extra"},
    "with autocast('cpu', dtype=extra, enabled=debug): x = 1": {"debug"},
    "with autocast('cpu', dtype=extra, enabled=seen): x = 1": {"seen", "extra"},
    "x = autocast('cpu', dtype=extra, enabled=False)": set(),
    "x = total(extra, enabled=debug)": {"total", "mode", "seen", "extra", "debug"},
    "if cfg['debug']: x = extra": {"cfg"},
    "if cfg['mode'] == 'mean': x = extra": {"cfg"},
    "if cfg['inner']['deep']: x = extra": {"cfg"},
    "if cfg['n']: x = extra": {"cfg"},
    "if args.debug: x = extra": {"args"},
    "x = 1 if not args.inner.deep else extra": {"args"},
    "if Settings.debug: x = extra": {"Settings"},
    "if settings.debug: x = extra": {"settings", "Settings"},
    "if settings.shown: x = extra": {"settings", "Settings", "extra"},
    "x = by_key()": {"by_key", "cfg", "seen"},
    "cfg['debug'] = True\nif cfg['debug']: x = extra": {"cfg", "extra"},
    "cfg.update(debug=True)\nif cfg['debug']: x = extra": {"cfg", "extra"},
    "args.debug = True\nif args.debug: x = extra": {"args", "extra"},
    "args.inner.deep = True\nif args.inner.deep: x = extra": {"args", "extra"},
    "override()\nif cfg['debug']: x = extra": {"override", "cfg", "extra"},
    "override()\nx = by_key()": {"override", "by_key", "cfg", "seen", "extra"},
    "toggle()\nif settings.debug: x = extra": {"toggle", "settings", "Settings", "extra"},
}


@pytest.mark.parametrize(("cell", "reads"), READS.items(), ids=READS)
def test_what_is_read_in_branches(notebook, cell, reads):
    """A branch counts unless a plain value that nobody sets keeps it from running."""
    notebook.run(HELD)
    assert {*notebook.dependencies(cell).names} == reads


OPTIONS = """
class CFG:
    fast, depth = False, 3
class Options:
    kind = "adam"
    def __init__(self): self.fast = False
    @property
    def slow(self): raise SystemExit
    def turn(self): self.fast = True
class Same:
    def __eq__(self, other): raise SystemExit
    __hash__ = object.__hash__
opt, same, cfg = Options(), Same(), {"kind": "adam", "net": {"depth": 3}, "tags": ["a"]}
kind, n, items, extra, model = "sgd", 4, [1, 2], [1], object()
def build():
    if cfg["kind"] == "sgd":
        return extra
    return n
def change(options):
    options["kind"] = "sgd"
def change_all(options):
    options.fast = True
def set_n():
    global n
    n = 10
def change_it():
    cfg["kind"] = "sgd"

class Sly:
    fast = True
    def __getattribute__(self, name): raise SystemExit
sly, space = Sly(), __import__("types").SimpleNamespace(fast=False, kind="a", depth=1)
"""

DECIDED = (
    "if cfg['kind'] == 'sgd': x = extra", "x = extra if cfg['net']['depth'] > 5 else n",
    "if opt.fast: x = extra", "if opt.kind != 'adam': x = extra", "if CFG.fast: x = extra",
    "if CFG.depth >= 4 and not opt.fast: x = extra", "if n % 2: x = extra",
    "if kind in ('adam', 'rms'): x = extra", "if 'b' in cfg['tags']: x = extra",
    "if 'depth' in cfg: x = extra", "if cfg.get('kind', 'sgd') == 'sgd': x = extra",
    "if len(items) > 2: x = extra", "if (m := len(items)) > 2: x = extra",
    "if not items: x = extra", "if model is None: x = extra", "if n is 5: x = extra",
    "if 1 < n < 3: x = extra", "while n > 9: x = extra", "x = build()",
    "if model is None: model = extra", "if n > 9: n = len(extra)",
    "y = space.kind\nint(space.depth)\nif space.fast: x = extra",
    "if space.fast: x = extra", "for each in items:\n    if opt.fast: x = extra",
    "match kind:\n    case 'adam' | 'rms': x = extra\n    case _: x = n",
    "match cfg:\n    case {'kind': 'adam'}: x = n\n    case {'kind': k}: x = extra",
)  # fmt: skip

OPEN = (
    "cfg['kind'] = 'sgd'\nif cfg['kind'] == 'sgd': x = extra",
    "c = cfg\nc['kind'] = 'sgd'\nif cfg['kind'] == 'sgd': x = extra",
    "cfg.update(kind='sgd')\nif cfg['kind'] == 'sgd': x = extra",
    "cfg['tags'].append('b')\nif 'b' in cfg['tags']: x = extra",
    "del cfg['kind']\nif 'kind' not in cfg: x = extra",
    "change(cfg)\nif cfg['kind'] == 'sgd': x = extra", "change(cfg)\nx = build()",
    "change_it()\nif cfg['kind'] == 'sgd': x = extra", "change_it()\nx = build()",
    "opt.turn()\nif opt.fast: x = extra", "opt.fast = True\nif opt.fast: x = extra",
    "items.append(3)\nif len(items) > 2: x = extra", "if opt.slow: x = extra",
    "n += 1\nif n > 4: x = extra", "set_n()\nif n > 9: n = len(extra)",
    "for k in items:\n    if n > 9: x = extra\n    n = 10",
    "def f():\n    global n\n    if n > 9: x = extra\n    n = 10\nf()\nf()",
    "change_all(space)\nif space.fast: x = extra", "if same == 1: x = extra", "if same in items: x = extra",
    "if not sly.fast: x = extra", "if opt.none: x = extra", "if cfg['none']: x = extra", "if n / 0: x = extra",
    "while n > 3: pass\nx = extra", "for n in items:\n    if n > 9: x = extra",
    "match kind:\n    case str(): x = extra\n    case _: x = n",
)  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "decided"), [*((each, True) for each in DECIDED), *((each, False) for each in OPEN)]
)
def test_what_names_hold_decides(notebook, cell, decided):
    """Items, attributes and sizes decide on a branch, unless the cell may change them before."""
    notebook.run(OPTIONS)
    assert ("extra" not in notebook.dependencies(cell).names) is decided


def test_a_value_that_changed(notebook):
    """The next run of the same text takes another branch."""
    notebook.run(HELD)
    assert "extra" not in notebook.dependencies("if debug: x = extra").names
    notebook.run("debug = True")
    assert "extra" in notebook.dependencies("if debug: x = extra").names


CALLED = """
import functools
import torch
from contextlib import contextmanager
base, table, wide = 1.0, 2.0, 3.0
def f(x, opt=False):
    if opt:
        return x * table
    return x * base
def twice(x): return f(x, True) + f(x, True)
def outer(x, mode="b"): return inner(x, mode)
def inner(x, mode): return x * table if mode == "t" else x * base
def last(n, end=False):
    if end:
        return table
    return last(n - 1, n == 1)
def scaled(x, scale=None):
    if scale is None:
        scale = table
    return x * scale
def moved(x, opt=False):
    for i in range(2):
        x += table if opt else base
        opt = not opt
    return x
def held(opt):
    def value(): return table if opt else base
    opt = True
    return value()
def near(x, width=0.5, *, most=None): return x * table if width > 1 or most is not None else base
def gather(*parts, opt=False): return table if opt else base
@torch.no_grad()
def graded(x, opt=False): return x * table if opt else x * base
@contextmanager
def opened(opt=False): yield table if opt else base
def turned(function): return functools.wraps(function)(lambda *a: function(*a, opt=True))
@turned
def swapped(x, opt=False): return x * table if opt else x * base
class Owner:
    def __init__(self): self.f = f
owner, listed, named = Owner(), [f], "f"
"""

GIVEN = {
    "f(1)": {"base"},
    "f(1, True)": {"table"},
    "f(1, opt=1)": {"table"},
    "f(1, opt=base)": {"base", "table"},
    "f(1, *listed)": {"base", "table"},
    "f(1, **{'opt': True})": {"base", "table"},
    "f(1) + twice(2)": {"base", "table"},
    "twice(2)": {"table"},
    "twice(2) + f(2, 'yes')": {"base", "table"},
    "[f(1, opt) for opt in (False, True)]": {"base", "table"},
    "list(map(f, [1], [True]))": {"base", "table"},
    "functools.partial(f, opt=True)(3)": {"base", "table"},
    "f(1) + listed[0](1, True)": {"base", "table"},
    "f(1) + owner.f(1, True)": {"base", "table"},
    "f(1) + globals()[named](1, opt=True)": {"base", "table"},
    "f(1) + eval('f(1, True)')": {"base", "table"},
    "f(1); exec(text)": {"base", "table"},
    "g = f; g(1, True)": {"base", "table"},
    "f.__call__(1, True)": {"base", "table"},
    "outer(1)": {"base"},
    "outer(1, 't')": {"table"},
    "inner(1, mode='t')": {"table"},
    "last(3)": {"table"},
    "last(0, True)": {"table"},
    "scaled(3)": {"table"},
    "scaled(3, 2.0)": set(),
    "moved(1)": {"base", "table"},
    "held(False)": {"base", "table"},
    "near(1)": {"base"},
    "near(1, 1.5)": {"table"},
    "near(1, 0.5, most=0)": {"table"},
    "near(1, width='wide')": {"base", "table"},
    "gather(1, 2, 3)": {"base"},
    "gather(1, opt=True)": {"table"},
    "h = lambda x: f(x, True)\nh(1)": {"table"},
    "graded(1)": {"base"},
    "graded(1) + graded(2, True)": {"base", "table"},
    "graded(1) + graded.__wrapped__(2, True)": {"base", "table"},
    "list(map(graded, [1], [True]))": {"base", "table"},
    "with opened() as x: pass": {"base"},
    "swapped(1)": {"base", "table"},
}


@pytest.mark.parametrize(("cell", "reads"), GIVEN.items(), ids=GIVEN)
def test_what_is_read_for_the_arguments_given(notebook, cell, reads):
    """A branch counts unless the arguments of every call keep it from running."""
    notebook.run(CALLED)
    assert {*notebook.dependencies(cell).names} & {"base", "table"} == reads


def test_what_is_read_of_a_function_in_a_package(notebook, tmp_path, monkeypatch):
    """However deep it lies, all calls of it count."""
    (tmp_path / "ours_of_a_test" / "deep").mkdir(parents=True)
    code = "base, table = 1, 2\ndef f(opt=False): return table if opt else base\n"
    (tmp_path / "ours_of_a_test" / "deep" / "tools.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    name = "ours_of_a_test.deep.tools"
    notebook.run(f"import {name}\nfrom {name} import f")
    both = {f"{name}.base", f"{name}.table"}
    assert {*notebook.dependencies("f()").names} & both == {f"{name}.base"}
    assert {*notebook.dependencies(f"f()\n{name}.f(True)").names} & both == both
    assert {*notebook.dependencies(f"{name}.f(True)").names} & both == {f"{name}.table"}


DEFAULTS = """
table = [1]
def f(x, seed=1, *, width=2): return x
def g(x, seed=1): return x
def placed(seed=1, /, **others): return seed, others
def more(x): return f(x, width=3)
"""

LEFT_OUT = {
    "f(1, seed=8, width=3)": {"f": set()},
    "f(1, 8)": {"f": {"width"}},
    "f(1, 8) + f(2, width=4)": {"f": {"seed", "width"}},
    "f(1, 8) + more(2)": {"f": {"seed", "width"}},
    "more(2)": {"f": {"seed"}},
    "f(1, **{'seed': 2})": {"f": {"seed", "width"}},
    "f(1, 8); table.append(f)": {"f": {"seed", "width"}},
    "f(1, 8); exec(text)": {"f": {"seed", "width"}},
    "f(g(1, 2), 8, width=g(1, seed=3))": {"f": set(), "g": set()},
    "placed(2)": {"placed": set()},
    "placed(seed=2)": {"placed": {"seed"}},
}


@pytest.mark.parametrize(("cell", "left_out"), LEFT_OUT.items(), ids=LEFT_OUT)
def test_which_defaults_count(notebook, cell, left_out):
    """The default of an argument counts where a call leaves that out."""
    notebook.run(DEFAULTS)
    parts = notebook.dependencies(cell).parts
    defaults = {"f": {"seed", "width"}, "g": {"seed"}, "placed": {"seed"}}
    unread = {name: {f"-d:{each}" for each in defaults[name] - left_out[name]} for name in left_out}
    assert {name: parts.get(name, set()) & {"-d:seed", "-d:width"} for name in left_out} == unread


def test_a_default_that_changed(notebook):
    """What a call leaves out is what the function has now."""
    notebook.run(CALLED)
    assert "table" not in notebook.dependencies("f(1)").names
    notebook.run("f.__defaults__ = (True,)")
    assert "table" in notebook.dependencies("f(1)").names
