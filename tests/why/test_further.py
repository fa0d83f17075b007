"""Inputs that other cells change further, or through another name."""

from __future__ import annotations

import pytest

from ipytorchseed.ledger.records import Finding, Findings, Part
from tests.render.explanations import States, explain, number, run, value

READ = "total = norm(x)"
FIRST, SECOND = (value(digest, "array", "float64 array 3") for digest in ("aa01", "bb02"))
OPT = value("cc03", "optimizer")
COPY = "make `x` a copy (`copy.deepcopy`): In[3] changes the original"
FURTHER = "make `x` in the cell of In[3]: each run changes it further"


def _said(change, first=None, kind="array"):
    """Return the cause's message and advice after change, read, change, read."""
    before, after = (value(each, kind) for each in ("aa01", "bb02"))
    runs = [
        run(1, **{"writes": {"x": before}, **(first or {"source": "x = load()"})}),
        run(2, READ, reads={"x": before}, writes={"total": number(1.0)}),
        run(3, **{"writes": {"x": after}, "in_place": ("x",), **change}),
        run(4, READ, reads={"x": after}, writes={"total": number(2.0)}),
    ]
    said = explain(runs[3], runs[1], runs[1:3], States(runs))
    (cause,) = said.causes
    return cause.message, cause.keep


@pytest.mark.parametrize(
    ("reads", "kind", "keep"),
    [
        ({}, "array", COPY),
        ({}, "dict", COPY),
        ({"opt": OPT}, "dict", COPY),
        ({"opt": OPT}, "tensor", ""),  # which has to stay the one that is updated
        ({}, "module", ""),
    ],
)
def test_a_value_that_changed_with_another_is_to_be_copied(reads, kind, keep):
    """The cell that changed it did not name it."""
    message, told = _said({"source": "y *= 2", "reads": reads}, kind=kind)
    assert message.startswith("In[3] changed `x`")
    assert (" through another name" in message) is (kind != "module")
    assert told == keep


@pytest.mark.parametrize(
    ("first", "keep"),
    [
        ({"source": "x *= 2", "reads": {"x": SECOND}}, FURTHER),
        ({"source": "x *= 2", "reads": {"x": SECOND}, "kernel": "earlier"}, ""),
        ({"source": "x += 1", "reads": {"x": SECOND}}, ""),
        (None, ""),
    ],
)
def test_a_cell_that_goes_on_from_what_it_changed_says_so(first, keep):
    """It ran before in the kernel, with the same text."""
    message, told = _said({"source": "x *= 2", "reads": {"x": FIRST}}, first)
    assert message.startswith("In[3] changed `x`")
    assert (" once more" in message) is bool(keep)
    assert told == keep


@pytest.mark.parametrize("is_repeated", [False, True])
def test_a_cell_that_was_not_repeated_is_named(is_repeated):
    """The value was created again, and a cell that changed it before was left out."""
    third = value("dd04", "array", "float64 array 3")
    load = {"source": "x = load()", "cell": "load"}
    scale = {"source": "x *= 2", "cell": "scale", "in_place": ("x",)}
    again = {**scale, "reads": {"x": third}, "writes": {"x": FIRST}} if is_repeated else None
    runs = [
        run(1, **load, started=1.0, writes={"x": FIRST}),
        run(2, **scale, started=2.0, reads={"x": FIRST}, writes={"x": SECOND}),
        run(3, READ, started=3.0, reads={"x": SECOND}, writes={"total": number(1.0)}),
        run(4, **load, started=4.0, writes={"x": third if again else FIRST}),
        *([run(5, **again, started=5.0)] if again else []),
        run(6, READ, started=6.0, reads={"x": FIRST}, writes={"total": number(2.0)}),
    ]
    said = explain(runs[-1], runs[2], runs[2:-1], States(runs))
    (cause,) = said.causes
    left_out = "In[4] made `x` again; In[2], which changed it, has not been run since"
    assert (cause.message == left_out) is not is_repeated
    assert (cause.keep == "put In[4] and In[2] into one cell") is not is_repeated
    assert [root.message for root in said.roots] == [cause.message]


@pytest.mark.parametrize("is_proved", [False, True])
def test_only_cells_that_changed_what_matters_are_blamed(is_proved):
    """Once experiments have shown which item of a dictionary matters."""
    kept = [
        value(digest, "dict", "dict of 2", parts={"k:depth": depth, "k:tag": tag})
        for digest, depth, tag in (("aa01", "2", "a"), ("bb02", "4", "a"), ("cc03", "4", "b"))
    ]
    use = {"source": "total = fit(x['depth'])", "cell": "use"}
    runs = [
        run(1, **use, reads={"x": kept[0]}, writes={"total": number(1.0)}),
        run(2, "x['depth'] = 4", cell="depth", reads={"x": kept[0]}, writes={"x": kept[1]},
            in_place=("x",)),
        run(3, "x['tag'] = 'b'", cell="tag", reads={"x": kept[1]}, writes={"x": kept[2]},
            in_place=("x",)),
        run(4, **use, reads={"x": kept[2]}, writes={"total": number(2.0)}),
    ]  # fmt: skip
    states = States(runs)
    proved = Finding("proved", "proved: …", (Part("x['depth']", "2 → 4"),))
    states.found[4, 1] = Findings((("input", "x", proved if is_proved else Finding()),))
    (cause,) = explain(runs[3], runs[0], runs[:3], states).causes
    assert [each.run.execution_count for each in cause.blame] == ([2] if is_proved else [2, 3])
    assert cause.message.startswith("In[2] changed `x`")
    assert ("In[3]" in cause.message) is not is_proved
