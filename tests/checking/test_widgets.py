"""The output of widgets is compared like other outputs."""

from __future__ import annotations

import asyncio

import nbformat
import pytest

from ipytorchseed.checking.kernel import Options
from ipytorchseed.checking.notebook import read
from ipytorchseed.checking.outputs import Views, states_of
from ipytorchseed.checking.passes import run_through
from ipytorchseed.checking.report import explanation
from tests.checking.books import book, found, look
from tests.forking import forking

STATE = "application/vnd.jupyter.widget-state+json"
IMPORTS = "import random, time, ipywidgets as W\nfrom tqdm.notebook import tqdm"
CELLS = {
    "interact": "def f(x):\n    print(x, random.random())\nW.interact(f, x=(0, 10));",
    "an Output": "out = W.Output()\nwith out:\n    print(random.random())\nout",
    "a label in a box": "box = W.VBox([W.Label(str(random.random()))])\nbox",
    "a seeded Output": (
        "out = W.Output()\nwith out:\n    print(random.Random(1).random(), object())\nout"
    ),
    "a bar": "bar = tqdm(total=10)\nfor _ in range(9):\n    time.sleep(random.random() / 20)\n"
    "    bar.update()",
}
VARIES = [*CELLS][:3]


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A notebook with a cell for each case and one that changes an Output; its check."""
    folder = tmp_path_factory.mktemp("widgets")
    later = ("log = W.Output()\nlog", "with log:\n    print(random.random())")
    path = book(folder / "all", IMPORTS, *CELLS.values(), *later)
    (folder / "records").mkdir()
    with forking():
        run = run_through(read(path), Options(saved=True), folder / "records", lambda: None)
        (passed,) = asyncio.run(run)
    node = nbformat.read(path, 4)
    for place, outputs in passed.outputs.items():
        node.cells[place].outputs = outputs
    bare, executed = (path.with_name(f"{name}.ipynb") for name in ("bare", "executed"))
    nbformat.write(node, bare)
    node.metadata["widgets"] = {STATE: {"state": passed.widgets}}  # as nbclient keeps them
    nbformat.write(node, executed)
    (checked,) = look(path)
    return checked, *look(executed, bare, saved=True)


@pytest.mark.parametrize("case", CELLS)
def test_two_runs(ran, case):
    """A random number in a widget differs; an address or a bar's progress does not."""
    place = 1 + [*CELLS].index(case)
    assert found(ran[0])[place][0] == ("different" if case in VARIES else "same")


def test_the_cell_that_changes_a_widget_is_the_one_that_differs(ran):
    """Not the one that displayed it before."""
    display, change = ran[0].cells[-2:]
    assert (display.outputs.value, change.outputs.value) == ("same", "different")
    assert [each.name for each in change.causes] == ["python"]


@pytest.mark.parametrize("case", CELLS)
def test_saved_widgets(ran, case):
    """The file may keep them; if it does not, they are not compared."""
    place = 1 + [*CELLS].index(case)
    _, executed, bare = ran
    assert executed.cells[place].outputs.value == ("different" if case in VARIES else "same")
    if case != "a label in a box":  # whose text names its child
        assert bare.cells[place].outputs.value == "same", explanation(bare)


@pytest.mark.parametrize(
    "metadata",
    [
        {"widgets": 3},
        {"widgets": {STATE: []}},
        {"widgets": {STATE: {"state": {"a": 1}}}},
        {"widgets": {STATE: {"state": {"a": {"state": {"children": [1, "IPY_MODEL_b"]}}}}}},
        {"widgets": {STATE: {"state": {"a": {"state": {"children": ["IPY_MODEL_a"]}}}}}},
        {"widgets": {STATE: {"state": {"a": {"state": {"outputs": [7, {"x": 1}]}}}}}},
        {"widgets": {STATE: {"state": {"a": {"buffers": [{"path": ["value"]}], "state": 0}}}}},
    ],
)
def test_states_of_any_shape(metadata):
    """Files of other programs hold anything; what is not a widget shows nothing."""
    view = {"data": {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}}}
    assert [*Views().changed([view], states_of(metadata))] == []
