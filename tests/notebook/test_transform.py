"""The input transformer is pure, and leaves no trace in the body."""

from __future__ import annotations

import ast
from copy import copy

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from ipytorchseed.notebook.transform import deterministic_cells

LINES = st.sampled_from(
    [
        "",
        "    ",
        "\t",
        "# words",
        "a = 1",
        "a",
        "    a = 1",
        "if a:",
        "    a; b",
        "else: pass",
        "'''",
        '"""words"""',
        "'words'; a",
        "from __future__ import annotations",
        "from __future__ import annotations, division; a",
        "from __future__ import (annotations,",
        "  division)  # why",
        "from __future__ import \\",
        "from os import path",
        "%%deterministic",
        "%%deterministic 3 --warn",
        "%%time",
        "%time a",
        "!ls",
        "x = !ls",
        "a?",
        ">>> a",
        "... a",
        "In [1]: a",
        "   ...: a",
        "def f():",
        "    return (1,",
        "])",
        "ä = '→'",
        "\x0c",
        "a\r",
        "'\\",
    ]
)

BODIES = st.one_of(st.lists(LINES | st.text(max_size=12).map(lambda t: t.replace("\n", ""))))

HEADS = st.sampled_from(["%%deterministic", "%%deterministic 42", "%%deterministic  --warn 3 \t"])


def _lines(*texts):
    """Split a cell as IPython does."""
    return "".join(f"{text}\n" for text in texts).splitlines(keepends=True)


@given(BODIES)
@example(["%%deterministically", "a"])
@example(["%%deterministic?"])
@example(["%%deterministic??", "a"])
@example([" %%deterministic"])
@example([])
def test_a_cell_without_the_magic_is_left_alone(body):
    """Only a first line with the magic is changed."""
    if body and body[0].startswith("%%deterministic") and not body[0].endswith(("?", "ly")):
        body = ["a", *body]
    lines = _lines(*body)
    assert deterministic_cells(lines) == _lines(*body)


@given(HEADS, BODIES)
def test_it_is_pure(head, body):
    """It does not change its input, is idempotent, and finishes in one pass."""
    lines = _lines(head, *body)
    given = copy(lines)
    first = deterministic_cells(lines)
    assert lines == given
    assert deterministic_cells(given) == first
    assert deterministic_cells(first) == first


@given(HEADS, BODIES)
def test_lines_stay_where_they_are(head, body):
    """The number of lines stays, unless another cell magic takes the rest."""
    lines = _lines(head, *body)
    made = deterministic_cells(lines)
    taken = next((line for line in lines[1:] if line.strip()), "").lstrip().startswith("%%")
    assert len(made) == len(lines) or (taken and len(made) == 1) or _prompted(body)


def _prompted(body):
    """Return whether a prompt is stripped that may hide a cell magic."""
    return any(line.lstrip().startswith((">>>", "...", "In [")) for line in body)


CODE = [
    "a = 1",
    "a = 1\n\n\nb = a\nb",
    "# words\n\nfor a in range(3):\n    a\n    # more\nelse:\n    pass",
    "'words'\na",
    "def f():\n    '''\n    from __future__ import annotations\n    '''\n",
    "from __future__ import annotations",
    "from __future__ import annotations\na = 1",
    "from __future__ import annotations; a = 1; b = 2",
    "from __future__ import annotations; a = 1 # words; more",
    "from __future__ import annotations\nfrom __future__ import division as d\nimport os\n",
    "class C:\n    a = 1\n\n\n    b = 2\nC",
    "x = !ls\n%time a\n!ls",
    "a = '''\n%%deterministic\n'''",
    "await f()\nasync with a as b:\n    await b",
]


def _tree(manager, cell):
    parsed = compile(
        manager.transform_cell(cell),
        "cell",
        "exec",
        ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
        dont_inherit=True,
    )
    assert isinstance(parsed, ast.Module)
    return parsed.body


@pytest.fixture
def manager():
    """IPython's transformers, with ours after those that clean up."""
    made = TransformerManager()
    made.cleanup_transforms.append(deterministic_cells)
    return made


@pytest.mark.parametrize("body", CODE)
def test_python_sees_the_same_statements_on_their_own_lines(manager, body):
    """The call comes first, or after future imports; the body moves one line down."""
    made = _tree(manager, f"%%deterministic 42 --warn\n{body}")
    calls = [node for node in made if "run_cell_magic" in ast.dump(node)]
    assert [ast.unparse(call) for call in calls] == [
        "get_ipython().run_cell_magic('deterministic', '42 --warn', None)"
    ]
    place = made.index(calls[0])
    before = made[:place]
    assert all(isinstance(n, ast.ImportFrom | ast.Expr) for n in before)
    assert not before or getattr(before[-1], "module", "") == "__future__"
    assert not any(getattr(n, "module", "") == "__future__" for n in made[place:])
    rest = [node for node in made if node is not calls[0]]
    plain = _tree(manager, body)
    assert [ast.dump(node) for node in rest] == [ast.dump(node) for node in plain]
    lines = [(n.lineno, n.end_lineno) for n in plain]
    assert [(n.lineno - 1, n.end_lineno - 1) for n in rest] == lines
    compile(ast.Module(made, []), "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


@pytest.mark.parametrize("quoted", ["it's", '"', "\\", "{a}", "'''"])
def test_what_stands_in_the_line_reaches_the_magic_as_it_is(quoted):
    """Quotes and backslashes in a line or a body do not end the call."""
    made = deterministic_cells(_lines(f"%%deterministic {quoted}", f"%%time {quoted}", quoted))
    first, second = (statement.value.args for statement in ast.parse("".join(made)).body)
    assert [ast.literal_eval(arg) for arg in first] == ["deterministic", quoted, None]
    assert [ast.literal_eval(arg) for arg in second] == ["time", quoted, f"{quoted}\n"]
