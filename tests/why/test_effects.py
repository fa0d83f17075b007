"""Attributes of a library that other cells set."""

from __future__ import annotations

from tests.render.explanations import States, explain, number, run

ASKED = "import modelzoo\ny = modelzoo.make().fused"


def asked(between, packages=("modelzoo",)):
    """Explain a cell that gave two results, with another cell between its runs."""
    first = run(1, ASKED, writes={"y": number(1.0)}, packages=packages)
    other = run(2, between, packages=packages)
    last = run(3, ASKED, writes={"y": number(2.0)}, packages=packages)
    runs = [first, other, last]
    return explain(last, first, runs[:2], States(runs))


def test_an_attribute_that_another_cell_set_is_named():
    """Only if nothing that is recorded changed. A replay does not undo it."""
    said = asked("modelzoo.fused = False")
    ((kind, name, message),) = [(each.kind, each.name, each.message) for each in said.causes]
    assert (kind, name) == ("flag", "modelzoo.fused")
    assert message == "In[2] set `modelzoo.fused`, and this cell also uses modelzoo"
    assert said.remedy.obstacle == "%replay does not undo In[2]"
    assert not said.remedy.complete


def test_an_attribute_of_another_library_is_not():
    """The cell does not use that library."""
    assert not asked("otherzoo.fused = False").causes
