"""Cells as the shell runs them: magics and their bodies, invalid text, caching."""

from __future__ import annotations

import gc
import warnings
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from ipytorchseed.reads.cell import code_digest, effects_of_cell

transform = TransformerManager().transform_cell

MAGICS = {
    "%%time\nx = y": ("y", "x"),
    "%%time -q\nx = y": ("y", "x"),
    "%%timeit -n 3\nx = y": ("y", ""),
    "%%timeit a = b\nf(a)": ("b f", ""),
    "%%capture out\nprint(y)": ("print y", "out"),
    "%%capture --no-stderr\nprint(y)": ("print y", ""),
    "%%capture\n%%time\nx = y": ("y", "x"),
    "%%capture\n%time x = y": ("y", "x"),
    "%%bash\necho $HOME x": ("", ""),
    "%%writefile a.py\nx = y": ("", ""),
    "%%html\n<b>x</b>": ("", ""),
    "%time x = f(y)": ("f y", "x"),
    "%timeit -n 10 -r 3 f(y)": ("f y", ""),
    "%timeit -n10 f(y)": ("f y", ""),
    "r = %timeit -o -q f(y)": ("f y", "r"),
    "%prun -s cumulative f(y)": ("f y", ""),
    "x = 1\n%time f(x)": ("f", "x"),
    "%time x = 1\nf(x)": ("f", "x"),
    "def f(): return k\n%time f()": ("k", "f"),
    "!ls {folder}": ("folder", ""),
    "!ls $folder | wc": ("folder", ""),
    "files = !ls {folder}/{name!r}": ("folder name", "files"),
    "%cd {folder}": ("folder", ""),
    "%matplotlib inline\nx": ("x", ""),
    "x?": ("", ""),
    "for i in xs:\n    %time f(i)": ("xs f", "i"),
}


@pytest.mark.parametrize("source", MAGICS)
def test_magics(source):
    """Code that a magic runs is followed; text that it only prints or writes is not."""
    effects = effects_of_cell(source, transform)
    reads, writes = (set(words.split()) for words in MAGICS[source])
    if "!r" in source:
        reads.discard("name")  # not an expression
    assert ({*effects.reads} - {"get_ipython"}, effects.writes) == (reads, writes)


def test_our_own_magic():
    """The translation of ``%%deterministic`` does not hide the code after it."""
    effects = effects_of_cell(
        "get_ipython().run_cell_magic('deterministic', '42', None); x = y", str
    )
    assert {*effects.reads} == {"get_ipython", "y"}
    body = "get_ipython().run_cell_magic('deterministic', '42', 'x = y')"
    assert "y" in effects_of_cell(body, str).reads


def test_files_run():
    """Files that run in the notebook are listed."""
    assert effects_of_cell("%run -i helpers.py --fast", transform).files == {"helpers.py"}


def test_text_not_known():
    """A string that is built while the cell runs makes the result incomplete."""
    assert not effects_of_cell("exec(make())", str).complete
    assert not effects_of_cell("globals()[key()]", str).complete
    assert effects_of_cell("exec('x = 1')", str).complete


INERT = [
    "",
    "x = 1",
    "x = y = -1.5",
    "sizes = [3, (1, 'two', None)]",
    "config = {'lr': 0.1, 'model': 'net'}",
    "def loss(a, b: Tensor = start, *, c=1) -> float:\n    return random.random()",
    "pass",
]
ACTS = [
    "x",
    "x = y",
    "x = [y]",
    "x = {'a': y}",
    "x = draw()",
    "x = a + b",
    "x = -a",
    "x = a.b",
    "x = a[0]",
    "x = [*a]",
    "x = {**a}",
    "x = {a: 1}",
    "x = {a}",
    "x = f'{a}'",
    "x += 1",
    "a.b = 1",
    "a[0] = 1",
    "x, y = a, 1",
    "del x",
    "import random",
    "if a:\n    x = 1",
    "class A:\n    pass",
    "@made\ndef f():\n    pass",
    "def f(a=draw()):\n    pass",
    "def f(a: np.ndarray):\n    pass",
    "def f() -> list[int]:\n    pass",
    "%%time\nx = 1",
]


def test_a_cell_that_runs_no_code():
    """It binds names to constants, to lists of them, or to functions."""
    assert [cell for cell in INERT if not effects_of_cell(cell, transform).inert] == []
    assert [cell for cell in ACTS if effects_of_cell(cell, transform).inert] == []


def test_text_that_a_name_holds():
    """The string is looked up when the cell is about to run."""
    cell = """
for part in ("train", "test"):
    sizes[part] = len(globals()[f"x_{part}"])
y, z = eval(formula), table.query(wanted)
"""
    effects = effects_of_cell(cell, str)
    assert effects.held == {("pattern", "x_*"), ("text", "formula"), ("text", "wanted")}
    assert effects_of_cell("vars()['x_' + part]", str).held == {("pattern", "x_*")}
    assert effects_of_cell("vars()[part]", str).held == {("text", "part")}
    assert not effects_of_cell("x = [globals()[n] for n in parts]", str).complete


BROKEN = [
    "x =",
    "(",
    "def f(:",
    "\x00",
    "\ud800",
    "'" * 3,
    "return 3 +",
    "(" * 500,
    "x = " + "-" * 50_000,
]


@pytest.mark.parametrize("source", BROKEN, ids=range(len(BROKEN)))
def test_not_python(source):
    """Text that does not parse has no effects, since it does not run; it has a digest."""
    effects = effects_of_cell(source, transform)
    assert not effects.reads
    assert not effects.writes
    assert code_digest(source, transform)


def test_transformer_that_fails():
    """If the user's transformer raises or returns no text, the cell has no effects."""

    def fail(source):
        raise RuntimeError(source)

    assert not effects_of_cell("%a transformer that fails", fail).reads
    assert not effects_of_cell("%a transformer that returns None", lambda _: None).reads


def test_python_is_not_transformed():
    """Valid Python is not passed to the transformer, which may have side effects."""

    def fail(source):
        raise AssertionError(source)

    assert {*effects_of_cell("plain = python_", fail).reads} == {"python_"}


@pytest.mark.parametrize(
    "source",
    ["x = '\\d'", "1if x else 2", "x is 1", "assert (x, 'y')", "f'{x}\\w'"],
)
def test_no_warnings(source):
    """Parsing shows no warnings, and leaves the filters unchanged."""
    filters = [*warnings.filters]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        effects = effects_of_cell(source + " # seen", transform)
        code_digest(source + " # seen", transform)
    assert not seen
    assert effects.reads or effects.writes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert effects_of_cell(source + " # seen as errors", transform).writes == effects.writes
    assert [*warnings.filters] == filters


def _handed_on(line, body):
    """Return a cell as the shell receives it: the magic's line as a call."""
    return f"get_ipython().run_cell_magic('deterministic', {line!r}, None)\n{body}"


@pytest.mark.parametrize("line", ["--check", "--check 3", "--check=3 --json", "--isolate --check"])
def test_a_line_that_only_checks_is_no_edit_of_the_cell(line):
    """Such a line does not change the digest of the cell."""
    assert code_digest(_handed_on(line, "x = 1"), transform) == code_digest("x = 1", transform)


@pytest.mark.parametrize("line", ["", "42", "42 --check", "--check 3 42", "--trace", "--warn"])
def test_a_line_that_seeds_or_sets_flags_is_an_edit(line):
    """Such a line changes the cell's result."""
    assert code_digest(_handed_on(line, "x = 1"), transform) != code_digest("x = 1", transform)


def test_nothing_is_kept():
    """The cache keeps neither the transformer nor its shell alive."""

    class Shell:
        def transform(self, source):
            return source

    shell = Shell()
    gone = weakref.ref(shell)
    effects_of_cell("? kept", shell.transform)
    code_digest("? kept", shell.transform)
    del shell
    gc.collect()
    assert gone() is None


def test_remembered():
    """A text is followed only once."""
    assert effects_of_cell("once = 1", str) is effects_of_cell("once = 1", str)


def test_memory_is_bounded():
    """The oldest texts are dropped."""
    first = effects_of_cell("number_0 = 0", str)
    for number in range(1, 600):
        effects_of_cell(f"number_{number} = 0", str)
    assert effects_of_cell("number_0 = 0", str) is not first


SAME = [
    ("x = 1", "x=1  # a remark"),
    ("f(a,\n  b)", "f(a, b)"),
    ("x = 'a'", 'x = "a"'),
    ("%%time\nx = 1", "%%time\nx = 1  # a remark"),
    ("if a:\n    b", "if a:\n\n  b\n"),
    ("x = 1_000", "x = 1000"),
    ("x = u'a'", "x = 'a'"),
]
OTHER = [
    ("x = 1", "x = 2"),
    ("x = 1", "x = 1.0"),
    ("x = 1", "x = True"),
    ("x = None", "x = ..."),
    ("x = 'a'", "x = b'a'"),
    ("f(a, b)", "f(b, a)"),
    ("f(a)(b)", "f(a, b)"),
    ("a - b - c", "a - (b - c)"),
    ("%%time\nx = 1", "%%time\nx = 2"),
    ("%%time\nx = 1", "%%capture\nx = 1"),
    ("%time x = 1", "%time x = 2"),
    ("%%bash\necho 1", "%%bash\necho 2"),
    ("if a: b\nc", "if a:\n    b\n    c"),
    ("x = [']']", "x = []"),
    ("x = (1, [2])", "x = (1, 2)"),
    ("def f(a=1): pass", "def f(a): pass"),
    ("f(x, *y)", "f(*x, y)"),
    ("f(**x)", "f(x)"),
    ("return_ = 1 +", "return_ = 2 +"),
    pytest.param(f"x = 0x1{'0' * 5_000}", f"x = 0x2{'0' * 5_000}", id="more than Python writes"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_same_code(one, other):
    """Comments and layout do not change the digest."""
    assert code_digest(one, transform) == code_digest(other, transform)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_code(one, other):
    """Everything that the interpreter sees changes the digest."""
    assert code_digest(one, transform) != code_digest(other, transform)


@given(st.text(max_size=60))
def test_any_text(source):
    """No text makes it fail."""
    effects_of_cell(source, transform)
    code_digest(source, transform)
