"""Of several causes, those are cleared on which nothing hangs that changed; never all of them."""

from __future__ import annotations

import pytest

from ipytorchseed.ledger.records import FileRead
from tests.render.explanations import SHUFFLED, START, States, explain, number, run, states

CELL = "x = a * 2\ny = b > 5"


def suspects(source=CELL, earlier=None, reads=("a", "b"), made=("x",), **more):
    """Return the names of the causes of a cell in which everything that it reads changed."""
    runs = [
        run(n, text, reads={name: number(n) for name in reads}, **more,
            writes={name: number(n if name in made else 0) for name in ("x", "y")})
        for n, text in enumerate([earlier or source, source], 1)
    ]  # fmt: skip
    found = explain(runs[1], runs[0], runs[:1], States(runs))
    assert {each.message for each in found.cleared} <= {
        "acts, by the cell's text, on nothing that changed"
    }
    assert len(found.causes) + len(found.cleared) == len(reads) + (earlier is not None)
    return [each.kind if each.kind == "code" else each.name for each in found.causes]


def test_inputs():
    """Those that went into what changed."""
    assert suspects() == ["a"]
    assert suspects(made=("y",)) == ["b"]
    assert suspects(made=("x", "y")) == ["a", "b"]


def test_an_edit():
    """Of a line that went into what changed; comments apart."""
    assert suspects(earlier="x = a * 2 # twice\ny = b > 6", reads=("a",)) == ["a"]
    assert suspects(earlier="x = a * 3\ny = b > 5", reads=("a",)) == ["code", "a"]
    assert suspects(earlier="x = a * 2", reads=("a",)) == ["a"]


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ("y = a > 5\nx = eval(b)", ("a", "b")),  # of which it is not known what it reads
        ("x = c * 1\ny = a > 5", ("a",)),  # the only suspect there is
        ("x = 1\ny = a > 5", ("a", "b")),  # read by something that the text does not name
        ("%time y = a > 5\nx = b", ("a", "b")),  # no Python
    ],
)
def test_all_are_named_otherwise(source, reads):
    """Where the text does not tell."""
    assert suspects(source, reads=reads) == [*reads]


def test_a_cell_that_failed():
    """It may have ended anywhere."""
    assert suspects(error="ValueError: no") == ["a", "b"]


def test_a_source():
    """A state that moved acts on nothing where only known functions are called."""
    runs = [
        run(n, source, reads={"a": number(n)}, writes={"x": number(n)}, **states(state, state))
        for n, state in ((1, START), (2, SHUFFLED))
        for source in ["x = a * 2\nnoise = torch.randn(3)"]
    ]
    (cause,) = explain(runs[1], runs[0], runs[:1], States(runs)).causes
    assert cause.name == "a"


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({}, ["k"]),
        ({"wrote": ("/w/t.csv",)}, ["k", "raw"]),
        ({"files": ()}, ["k", "raw"]),
    ],
)
def test_what_is_read_to_write_a_file(more, named):
    """It is cleared where none was written, and one was read."""
    cell = "try: t = read(p)\nexcept OSError:\n    t = raw * 1\n    t.to_csv('t.csv')\nx = f(t, k)"
    runs = [
        run(n, cell, reads={"k": number(n), "raw": number(n)}, writes={"x": number(n)},
            **{"files": (FileRead("/w/t.csv", 1, "a"),), **more})
        for n in (1, 2)
    ]  # fmt: skip
    assert (
        sorted(each.name for each in explain(runs[1], runs[0], runs[:1], States(runs)).causes)
        == named
    )
