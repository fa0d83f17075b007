"""Large, deep and circular things cause no errors and little work."""

from __future__ import annotations

import ast
import math
import sys
import time

import pytest
import torch

from ipytorchseed.reads import following
from ipytorchseed.reads.cell import code_digest, effects_of_cell
from ipytorchseed.reads.code import effects_of_code
from ipytorchseed.reads.following import find_dependencies


class Clock:
    """A clock that advances by a millisecond at each call."""

    def __init__(self):
        self.asked = 0

    def __call__(self):
        """Return the time in seconds."""
        self.asked += 1
        return self.asked / 1000


class Spy(dict):
    """A namespace that supports lookups but no iteration."""

    def __iter__(self):
        raise AssertionError

    keys = values = items = copy = __iter__


def test_a_cell_looks_up_what_it_names():
    """The number of other names does not matter."""
    names = Spy({f"name_{number}": number for number in range(10_000)} | {"x": [1], "y": [2]})
    found = find_dependencies(effects_of_cell("print(x + y)", str), names, seconds=math.inf)
    assert {*found.names} == {"x", "y"}


def test_a_large_model_is_followed_in_time(notebook, put_back):
    """A model of 300 modules takes only part of the allowed time."""
    layers = [torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()) for _ in range(100)]
    notebook.run(net=torch.nn.Sequential(*layers))
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "thread_time", clock)
        notebook.dependencies("y = net(x)")
    assert 300 < clock.asked < 10_000


HUGE = {
    "many statements": "\n".join(f"a{number} = b{number} + 1" for number in range(1_800)),
    "a long list": f"x = [{','.join('1' * 15_000)}]",
    "a long sum": " + ".join(f"a{number}" for number in range(3_000)),
    "deep parentheses": "(" * 80 + "a" + ")" * 80,
    "deep calls": "f(" * 80 + "a" + ")" * 80,
    "deep attributes": "a" + ".b" * 3_000,
    "deep subscripts": "a" + "[0]" * 3_000,
    "many calls in a row": "a" + ".b()" * 2_000,
    "deep blocks": "\n".join(f"{'    ' * depth}if a{depth}:" for depth in range(18)) + " b",
    "deep loops": "\n".join(f"{'  ' * depth}for i{depth} in a:" for depth in range(18)) + " b",
    "loops that make functions": "\n".join(
        f"{'  ' * depth}for i{depth} in a:" for depth in range(10)
    ) + "\n" + "  " * 10 + "f = lambda: b",
    "many branches": "if a: x = 1\n" * 2_000,
    "many alternatives": "if a: x = 1\n" + "elif a: x = 2\n" * 300,
    "a diamond of functions": "def f0(): return a\ndef g0(): return a\n" + "".join(
        f"def f{n}(): return f{n - 1}() + g{n - 1}()\ndef g{n}(): return f{n - 1}() + g{n - 1}()\n"
        for n in range(1, 40)
    ) + "f39()",
    "many functions": "\n".join(f"def f{n}(): return f{n + 1}()" for n in range(1_000)) + "\nf0()",
    "a growing path": "a = b\n" + "a = a.c()\n" * 2_000,
    "many aliases": "a = b\n" + "if c: a = a.d\nelse: a = a.e\n" * 300,
    "many tries": "try:\n    a = f()\nexcept E: pass\n" * 1_000,
}  # fmt: skip


@pytest.mark.parametrize("source", HUGE.values(), ids=HUGE)
def test_huge_cells(notebook, source):
    """A huge or deep cell is followed, or its names are collected."""
    notebook.dependencies(source)
    code_digest(source, str)
    effects = effects_of_cell(source, str)
    try:
        tree = ast.parse(source)
    except RecursionError:  # too deep for the interpreter too
        assert not effects.reads
        return
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert {*effects.reads} <= names
    assert effects.reads or effects.writes


ENORMOUS = {
    "statements": "\n".join(f"a{number} = b{number} + 1" for number in range(5_000)),
    "a list": f"x = [{', '.join(map(str, range(100_000)))}]",
    "one text": f"x = '{'a' * 10_000_000}'",
    "a magic": f"%%time\nx = [{'1,' * 100_000}]",
    "no Python": "x = [" * 20_000,
}


@pytest.mark.parametrize("source", ENORMOUS.values(), ids=ENORMOUS)
def test_enormous_cells(notebook, source):
    """An enormous cell is marked incomplete and not parsed, but it has a digest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ast, "parse", None)
        assert not notebook.dependencies(source).complete
        assert code_digest(source, str) == code_digest(source, str)
        assert code_digest(source, str) != code_digest(f"{source} ", str)


def test_many_functions_that_a_cell_calls(notebook, monkeypatch):
    """They are followed until the time is up."""
    looked = []

    def look(code):
        looked.append(code)
        return effects_of_code(code)

    notebook.run("\n".join(f"def f{number}(): return f{number + 1}()" for number in range(1_000)))
    calls = effects_of_cell("f0()\nf999()", str)
    monkeypatch.setattr(following, "effects_of_code", look)
    monkeypatch.setattr(time, "thread_time", Clock())
    found = find_dependencies(calls, notebook.names, seconds=0.15)
    assert not found.complete
    assert {"f0", "f999"} <= found.names.keys()
    assert 0 < len(looked) < 500


def test_pasted_numbers():
    """A cell of thousands of numbers is followed, and known to run no code."""
    effects = effects_of_cell(f"x = [{', '.join(['1'] * 6_000)}]", str)
    assert effects.complete
    assert effects.inert
    assert effects.writes == {"x"}


def test_too_deep_to_follow():
    """If code is too deep, its names are collected and the result is incomplete."""
    effects = effects_of_cell("x = " + " + ".join(f"a{number}" for number in range(800)), str)
    assert len(effects.reads) == 800
    assert effects.writes == {"x"}
    assert not effects.complete


def test_circles(notebook):
    """Following ends for circular objects and functions that call each other."""
    notebook.run(
        """
        a = []; a.append(a)
        d = {}; d["d"] = d
        class A: pass
        o = A(); o.o = o; A.all = [o]
        def f(): return g()
        def g(): return f()
        f.f = f
        f.__wrapped__ = g
        t = ([],); t[0].append(t)
        """
    )
    assert notebook.inputs("a, d, o, f, t") == {"a", "d", "o", "A", "f", "g", "t"}


def test_deep_objects(notebook):
    """Deeply nested lists are only followed to a limited depth."""
    deep = []
    for _ in range(100_000):
        deep = [deep]
    notebook.run(deep=deep)
    assert notebook.inputs("deep") == {"deep"}
    while deep:
        deep = deep.pop()


def test_large_containers(notebook):
    """Only the first items of a large container are inspected."""
    notebook.run(big=[object() for _ in range(200_000)], table={n: [n] for n in range(200_000)})
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "thread_time", clock)
        found = notebook.dependencies("big, table, set(big)")
    assert clock.asked < 1_000
    assert {*found.names} == {"big", "table"}


def test_too_much(notebook):
    """If there is too much to follow, the result is incomplete."""
    notebook.run("class A: pass\n")
    chain = first = notebook.names["A"]()
    for _ in range(10_000):
        chain.next = notebook.names["A"]()
        chain = chain.next
    notebook.run(first=first)
    assert not notebook.dependencies("first").complete


def test_many_functions(notebook):
    """A thousand functions that call one another are each followed once."""
    notebook.run(
        "\n".join(f"def f{n}(): return f{n + 1}() + f{max(n - 1, 0)}()" for n in range(1_000)),
        "def f1000(): return k\nk = 1",
    )
    assert len(notebook.inputs("f0()")) == 1_002


def test_functions_are_remembered(notebook):
    """A function is followed once."""
    notebook.run("def f(): return k\nk = 1")
    code = notebook.names["f"].__code__
    assert effects_of_code(code) is effects_of_code(code)


MANY = {
    "functions": ("\n".join(f"def f{n}(): return f{n + 1}()" for n in range(3_000)), "f0()"),
    "functions, each named": (
        "\n".join(f"def f{n}(): return {n}" for n in range(3_000)),
        "\n".join(f"f{n}()" for n in range(3_000)),
    ),
    "variables": (
        "\n".join(f"v{n} = [{n}]" for n in range(3_000)),
        "\n".join(f"v{n}" for n in range(3_000)),
    ),
    "variables of one function": (
        "\n".join(f"v{n} = [{n}]" for n in range(3_000))
        + "\ndef f():\n"
        + "\n".join(f"    v{n}.append(1)" for n in range(3_000)),
        "f()",
    ),
    "objects in each other": (
        "class A: pass\nfirst = last = A()\n"
        "for _ in range(1_900):\n    last.next = A()\n    last = last.next",
        "first",
    ),
    "items": ("many = [[[[n]] for n in range(60)] for _ in range(60)]", "many"),
    "attributes of a module": (
        "import sys, types\nhuge = sys.modules['huge'] = types.ModuleType('huge')\n"
        "huge.__file__ = '/a/b/huge.py'\n"
        "huge.__dict__.update({f'v{n}': [n] for n in range(3_000)})",
        "print(huge)",
    ),
}


@pytest.mark.parametrize(("made", "cell"), MANY.values(), ids=MANY)
def test_following_ends_in_time(notebook, monkeypatch, made, cell):
    """Every kind of large object checks the time, and what was skipped is reported."""
    monkeypatch.setitem(sys.modules, "huge", None)
    notebook.run(made)
    effects_of_cell(cell, str)
    clock = Clock()
    monkeypatch.setattr(time, "thread_time", clock)
    found = notebook.dependencies(cell, seconds=0.2)
    assert 50 < clock.asked < 250
    assert not found.complete


def test_what_a_cell_sets_is_listed_without_time(notebook):
    """Names in the text itself are listed even if there is no time."""
    notebook.run("x = [1]\ndef f(): return x")
    found = notebook.dependencies("import os\ny = f()", seconds=-1)
    assert found.writes == {"os", "y"}
    assert found.packages == {"os"}
    assert not found.complete
