"""Attributes of a library that another cell set."""

from __future__ import annotations

import pytest

from tests.render.explanations import States, explain, number, run

ASKED = "import modelzoo\ny = modelzoo.make().fused"


def asked(between):
    """Explain a cell that gave two results, with another cell between its runs."""
    first = run(1, ASKED, writes={"y": number(1.0)}, packages=("modelzoo",))
    other = run(2, between, packages=("modelzoo",))
    last = run(3, ASKED, writes={"y": number(2.0)}, packages=("modelzoo",))
    runs = [first, other, last]
    return explain(last, first, runs[:2], States(runs))


def causes(between):
    """Return the messages about such a cell."""
    return [(cause.kind, cause.name, cause.message) for cause in asked(between).causes]


@pytest.mark.parametrize(
    "cell",
    ["modelzoo.use_fused(False)", "modelzoo.summary()", "print(1)", "import time\ntime.sleep(0)"],
)
def test_a_call_is_not(cell):
    """It may only compute a result."""
    assert not causes(cell)


def test_an_attribute_that_another_cell_set_is_named():
    """Only if nothing that is recorded changed. A replay does not undo it."""
    said = asked("modelzoo.fused = False")
    ((kind, name, message),) = causes("modelzoo.fused = False")
    assert (kind, name) == ("flag", "modelzoo.fused")
    assert message == "In[2] set `modelzoo.fused`, and this cell also uses modelzoo"
    assert said.remedy.obstacle == "%replay does not undo In[2]"


def test_an_attribute_of_another_library_is_not():
    """The cell does not use that library."""
    assert not causes("otherzoo.fused = False")
