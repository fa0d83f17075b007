"""Calls of other cells that may have set something in a library."""

from __future__ import annotations

import pytest

from tests.render.explanations import States, explain, number, run

ASKED = "import modelzoo\ny = modelzoo.make().fused"


def asked(between, *, packages=("modelzoo",), shown=None):
    """Explain a cell that gave two results, with another cell between its runs."""
    first = run(1, ASKED, writes={"y": number(1.0)}, packages=packages)
    other = run(2, between, result=shown, packages=packages)
    last = run(3, ASKED, writes={"y": number(2.0)}, packages=packages)
    runs = [first, other, last]
    return explain(last, first, runs[:2], States(runs))


def causes(between, **more):
    """Return the messages about such a cell."""
    return [(cause.kind, cause.name, cause.message) for cause in asked(between, **more).causes]


@pytest.mark.parametrize(
    "cell",
    ["from modelzoo.config import use_fused\nuse_fused(False)", "modelzoo.use_fused(False)\nx = 1"],
)
def test_a_call_for_its_effect_is_named(cell):
    """It comes last: only if nothing that is recorded changed."""
    ((kind, name, message),) = causes(cell)
    assert (kind, name) == ("flag", "modelzoo.use_fused")
    assert "In[2] called `" in message


def test_the_way_back_does_not_undo_it():
    """What the call set is not recorded."""
    remedy = asked("modelzoo.use_fused(False)").remedy
    assert remedy.obstacle == "%replay does not undo In[2]"
    assert not remedy.complete


@pytest.mark.parametrize(
    "cell",
    ["z = modelzoo.use_fused(False)", "print(1)", "import time\ntime.sleep(0)", "import os"],
)
def test_other_calls_are_not(cell):
    """Something is done with what they return, or they belong to no library."""
    assert not causes(cell)


def test_a_call_whose_result_is_shown_is_not():
    """It may be made for its result."""
    assert not causes("modelzoo.summary()", shown=number(1.0))


def test_libraries_whose_settings_are_recorded_are_left_out():
    """Their settings were equal."""
    assert not causes("import torch\ntorch.manual_seed(0)", packages=("torch", "modelzoo"))


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
