"""Compiled functions: what their instructions look up, in each version of Python."""

from __future__ import annotations

import sys
import textwrap

import pytest
from hypothesis import HealthCheck, assume, given, settings

from ipytorchseed.reads.bytecode import flow_of_code
from tests.reads.programs import DATA, programs, run


def follow(body, head="def f(a=1, *args, **options):"):
    """Follow a function of these lines, compiled."""
    source = f"{head}\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    (code,) = (each for each in compile(source, "", "exec").co_consts if hasattr(each, "co_code"))
    return flow_of_code(code)


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        ("return k", "k"),
        ("return a", ""),
        ("return [x + k for x in a]", "k"),
        ("return lambda: k", "k"),
        ("def g():\n    return k\nreturn g", "k"),
        ("class A:\n    x = k\n    def m(self): return j\nreturn A", "k j"),
        ("for x in xs: use(x)", "xs use"),
        ("try: f()\nexcept E: g()\nfinally: h()", "f E g h"),
        ("with c() as d: e(d)", "c e"),
        ("return k.a.b(k.c)", "k"),
        ("global n\nn += 1", "n"),
        ("import os\nreturn os.name", ""),
        ("match a:\n    case P(x=1): return k", "P k"),
        ("return f'{k!r:{w}}'", "k w"),
        ("return super", "super"),
        ("async def g(): await k\nreturn g", "k"),
        ("return f(*args, **options)", "f"),
        ("return {**k, 'a': j}, [*l], {*m}", "k j l m"),
        ("x, (y, *z) = k\nreturn x", "k"),
        ("x = k\ndel x", "k"),
        ("return k if a else j", "k j"),
        ("return a and k or j", "k j"),
        ("return k < a < j", "k j"),
        ("return k[1:a], k[j]", "k j"),
        ("assert k, j", "k j"),
        ("while k: a()", "k"),
        ("yield k\nyield from j", "k j"),
        ("return not k, -j, ~l", "k j l"),
        ("k.x = a\nj[a] = l", "k j l"),
        ("print(*a, k, sep=j)", "print k j"),
        ("raise E(k) from j", "E k j"),
    ],
)
def test_reads(body, reads):
    """Global names are found wherever they are looked up, inner functions' included."""
    assert {*follow(body).reads} - {"__name__"} == {*reads.split()}


def test_writes_and_imports():
    """Global names set, and packages imported, are noted."""
    flow = follow("global n, m\nn = 1\ndel m\nimport a.b.c\nfrom d import e\nfrom . import f")
    assert flow.writes == {"n", "m"}
    assert flow.imports == {"a", "d"}
    assert {":d.e", ":.f"} <= flow.paths


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("f()", {"f": 0}),
        ("f(None)", {"f": 0}),
        ("f(x=None)", {"f": 0}),
        ("f(a)", {"f": 1}),
        ("f(1, x=2)", {"f": 2}),
        ("f(*args)", {"f": 99}),
        ("f(**options)", {"f": 99}),
        ("f(a, *args, x=1, **options)", {"f": 99}),
        ("k.m(a)(None)", {"k.m": 1, "k.m()": 0}),
        ("f(g(), h(1))", {"f": 2, "g": 0, "h": 1}),
        ("f(a if a else None)", {"f": 1}),
        ("f(1); f()", {"f": 0}),
        ("[f(x) for x in a]", {"f": 1}),
        ("f([a, 1], {'a': 1}, (1, a), f'{a}')", {"f": 4}),
        ("f(a[1:2], not a, a < 1, -a, a @ a, a ** 2)", {"f": 6}),
        ("f(lambda: 1, k=lambda x=a: x)", {"f": 2}),
        ("import t as u\nu.v()", {":t.v": 0}),
        ("from t.w import v as u\nu()", {":t.w.v": 0}),
        ("import t.w\nt.w.v()", {":t.w.v": 0}),
        ("import t.w as u\nu.v()", {":t.w.v": 0}),
        ("g = k.m\ng()", {"k.m": 0}),
        ("with k.c() as d: f(1)", {"k.c": 0, "f": 1}),
        ("super().m(1)", None),
        ("f(k.a, j.b)", {"f": 2}),
        ("a.b(1)", {}),
        ("return f(a.b(c=1), (yield a), a.d(1, 2, 3))", {"f": 3}),
    ],
)
def test_calls(body, calls):
    """Calls are counted with their arguments, through whatever the stack holds between."""
    found = follow(body).calls
    if calls is not None:
        assert found == calls


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(programs())
def test_programs(source):
    """Whatever a program's runs read, its compiled code is known to look up."""
    assume("del " not in source and "exec(" not in source)
    assume("eval(" not in source and "globals()" not in source)
    try:
        seen = run(source)
    except UnboundLocalError:
        seen = None
    assume(seen is not None)
    flow = flow_of_code(compile(source, "<program>", "exec"))
    assert seen[0] & {*DATA} <= {*flow.reads}


def test_the_standard_library():
    """No function of the standard library makes it fail, or lose track of a call's arguments."""
    import argparse
    import ast
    import asyncio.base_events
    import dataclasses
    import typing

    modules = [argparse, ast, asyncio.base_events, dataclasses, typing, textwrap]
    for module in modules:
        code = compile(open(module.__file__, encoding="utf-8").read(), "", "exec")  # noqa: PTH123, SIM115
        flow = flow_of_code(code)
        assert flow.complete
        assert all(given >= 0 for given in flow.calls.values())
    assert sys.version_info >= (3, 10)
