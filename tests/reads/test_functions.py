"""The names that compiled functions read, with and without their source."""

from __future__ import annotations

import ast
import itertools
import linecache
import textwrap
import types

import pytest
from hypothesis import HealthCheck, assume, given, settings

from ipytorchseed.reads.actions import imports_of
from ipytorchseed.reads.code import effects_of_code
from tests.reads.programs import DATA, programs

numbers = itertools.count()

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def compiled(source, name):
    """Return the code of the functions in a text, including nested ones."""
    stack = [compile(source, name, "exec")]
    found = []
    while stack:
        inner = [each for each in stack.pop().co_consts if isinstance(each, types.CodeType)]
        found += inner
        stack += inner
    return found


def written(source):
    """Cache a text as IPython caches a cell, and return its file name."""
    name = f"<function {next(numbers)}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    return name


def follow(body, *, source=True):
    """Return the effects of a compiled function with these lines."""
    head = "def f(a=1, *args, **options):"
    text = f"{head}\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    return effects_of_code(compiled(text, written(text) if source else "<gone>")[0])


@pytest.mark.parametrize("source", [True, False])
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
def test_reads(body, reads, source):
    """Global names are found everywhere, also in nested functions."""
    assert {*follow(body, source=source).reads} - {"__name__"} == {*reads.split()}


@pytest.mark.parametrize("source", [True, False])
def test_writes_and_imports(source):
    """Global names that are set, and imported packages, are recorded."""
    body = "global n, m\nn = 1\ndel m\nimport a.b.c\nfrom d import e\nfrom . import f"
    effects = follow(body, source=source)
    assert effects.writes == {"n", "m"}
    assert imports_of(effects.actions) == {"a", "d"}
    assert effects.complete is source
    assert not source or {":d.e", ":.f"} <= effects.paths


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
    """Calls are found with the number of arguments, whatever else is on the stack."""
    found = follow(body).calls
    if calls is not None:
        assert found == calls


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(source=programs())
def test_programs(limited_run, source):
    """All names that a program's runs read are found in its compiled code."""
    assume("del " not in source and "exec(" not in source)
    assume("eval(" not in source and "globals()" not in source)
    try:
        seen = limited_run(source)
    except UnboundLocalError:
        seen = None
    assume(seen is not None)
    text = f"def program():\n    global {', '.join(DATA)}\n{textwrap.indent(source, '    ')}"
    for name in (written(text), "<gone>"):
        try:
            code = compiled(text, name)[0]
        except SyntaxError:  # global names may not be annotated
            assume(False)
        assert seen[0] & {*DATA} <= {*effects_of_code(code).reads}


def test_the_standard_library():
    """The source of every function is found, with the arguments of every call."""
    import argparse
    import asyncio.base_events
    import dataclasses
    import typing

    for module in [argparse, ast, asyncio.base_events, dataclasses, typing, textwrap]:
        text = "".join(linecache.getlines(module.__file__))
        codes = compiled(text, module.__file__)
        defined = {each.name for each in ast.walk(ast.parse(text)) if isinstance(each, FUNCTIONS)}
        functions = [each for each in codes if each.co_name in defined | {"<lambda>", "<genexpr>"}]
        assert len(functions) > 5
        for code in functions:
            effects = effects_of_code(code)
            assert effects.complete or {"eval", "exec", "globals"} & {*effects.reads}
            assert all(given >= 0 for given in effects.calls.values())


# --------------------------------------------------------------------------------------------------
# Source and code


def test_a_function_is_followed_by_its_source(notebook):
    """The source shows more than the code: aliases, and arguments of calls."""
    notebook.run(
        "import random, time\ndef f():\n    now = time.time\n    random.seed(3)\n    now()"
    )
    found = notebook.dependencies("f()")
    assert found.complete
    assert found.nondeterministic_calls == {"time.time"}


CALLED = "import time\nk = j = 1\ndef f(g=1):\n    class A: h = k\n    return time.time(), A.j\n"


def run_unseen(notebook, text):
    """Run a text that cannot be looked up afterwards."""
    exec(compile(text, "<unseen>", "exec"), notebook.names)  # noqa: S102 -- a cell


def test_a_function_without_source_is_followed_by_its_names(notebook):
    """Its names are found, and the result is marked incomplete."""
    run_unseen(notebook, CALLED)
    found = notebook.dependencies("f()")
    assert {*found.names} == {"f", "k"}
    assert not found.complete


def test_what_generates_its_code_is_not_taken_for_unknown(notebook):
    """Generated methods of dataclasses and named tuples hide nothing."""
    notebook.run(
        """
        import dataclasses, collections
        @dataclasses.dataclass(order=True, frozen=True)
        class Options:
            rate: float = 0.1
            names: list = dataclasses.field(default_factory=list)
        Point = collections.namedtuple("Point", "x y")
        rate = x = 1
        """
    )
    found = notebook.dependencies("Options() < Options(0.2), Point(1, 2)._replace(x=3)")
    assert {*found.names} == {"Options", "Point"}
    assert found.complete


def test_an_edited_file_is_not_taken_for_what_runs(notebook, local_module, tmp_path):
    """A module that was edited but not reloaded is followed by its loaded code."""
    local_module("edited", "k = j = 1\ndef f(): return k\n")
    notebook.run("import edited")
    path = tmp_path / "edited.py"
    path.write_text("k = j = 1\n\ndef f(): return j\n")
    found = notebook.dependencies("edited.f()")
    assert {*found.names} == {"edited.f", "edited.k"}
    assert not found.complete


def test_a_module_loaded_again_is_followed_by_its_new_text(notebook, local_module, tmp_path):
    """The new text is used, even if the interpreter still caches the old one."""
    local_module("again", "k = j = 1\ndef f(): return k\n")
    notebook.run("import again, importlib")
    assert {*notebook.inputs("again.f()")} == {"again.f", "again.k"}
    (tmp_path / "again.py").write_text("k = j = 1\n# now another\ndef f(): return j + again()\n")
    notebook.run("importlib.reload(again)")
    found = notebook.dependencies("again.f()")
    assert {*found.names} == {"again.f", "again.j"}
    assert found.complete


def test_methods_of_modules_that_import(notebook, local_module):
    """Modules are compiled as a whole, cells by statement; both sources are found."""
    text = (
        "import time\nclass A:\n    def f(self): return super().__repr__(), self.__k, time.time()\n"
    )
    local_module("whole", text)
    notebook.run("import whole")
    found = notebook.dependencies("whole.A().f()")
    assert found.complete
    assert found.nondeterministic_calls == {"time.time"}
    for statement in ("import time", text.partition("\n")[2]):
        notebook.run(statement)
    found = notebook.dependencies("A().f()")
    assert found.complete
    assert found.nondeterministic_calls == {"time.time"}


@pytest.mark.parametrize(
    ("made", "reads"),
    [
        ("f = lambda: k", "k"),
        ("f = [lambda x: k, lambda y: j][0]", "k"),
        ("f = (\n    lambda:\n        k\n)", "k"),
        ("f = (x + k for x in j)", "j k"),
        ("@functools.cache\ndef f(): return k", "k"),
        ("def make(k):\n    def inner(): return k + j\n    return inner\nf = make(1)", "j"),
        ("def make():\n    return lambda x=j: k\nf = make()", "k"),
        ("class A:\n    def __call__(self, x=j): return k\nf = A()", "A k"),
        ("async def f(): return k", "k"),
        ("def f():\n    yield k", "k"),
        ("if True:\n    for n in [1]:\n        def f(): return k", "k"),
        ("def f():\n    hold.hook = lambda: k", "hold k"),
        ("from __future__ import annotations\ndef f(x: unknown): return k", "k"),
    ],
)
def test_every_kind_of_function(notebook, made, reads):
    """Its source is found; what its definition evaluates is no input."""
    notebook.run("import functools\nk, j, hold = [1], [2], [3]", made)
    found = notebook.dependencies("f")
    assert {*found.names} == {"f", *reads.split()}
    assert found.complete


def test_a_timed_cell_defines_functions(notebook):
    """IPython runs the body of ``%%time`` under a file name without text."""
    body = "import time\nk = 1\ndef f():\n    now = time.time\n    return k, now()\n"
    notebook.dependencies(f"get_ipython().run_cell_magic('time', '', {body!r})")
    exec(compile(body, "<timed exec>", "exec"), notebook.names)  # noqa: S102 -- like IPython
    found = notebook.dependencies("f()")
    assert found.complete
    assert found.nondeterministic_calls == {"time.time"}


@pytest.mark.parametrize(
    "name", ["/dev/zero", "/dev/stdin", "\0", "", "<string>", "/", "x" * 5_000]
)
def test_odd_file_names(notebook, name):
    """A function may have any file name; only text files are read."""
    exec(compile("def f(): return k", "made", "exec"), notebook.names)  # noqa: S102
    f = notebook.names["f"]
    f.__code__ = f.__code__.replace(co_filename=name)
    notebook.run("k = 1")
    assert notebook.inputs("f()") == {"f", "k"}


def test_rewritten_code_is_followed_as_it_is(notebook):
    """If a tool replaced a function's code, the source is ignored."""
    notebook.run("k = j = 1\ndef f(): return k")
    f = notebook.names["f"]
    f.__code__ = f.__code__.replace(co_names=("j",))
    found = notebook.dependencies("f()")
    assert {*found.names} == {"f", "j"}
    assert not found.complete
