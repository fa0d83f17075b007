"""``%why all`` lists the changed cells of the notebook, grouped by their roots."""

from __future__ import annotations

import json

import pytest

from tests.kernel import Kernel
from tests.test_schemas import check

CELLS = {
    "load": "import numpy as np\nsize = 3",
    "draw": "a = np.random.rand(size)",
    "mean": "mean = float(a.mean())\nmean",
    "other": "double = 2 * size\ndouble",
}


@pytest.fixture
def notebook(tmp_path):
    """Run all cells once in a separate kernel, each with an id."""
    with Kernel(tmp_path) as kernel:
        for name, cell in {"ours": "%load_ext ipytorchseed", **CELLS}.items():
            assert kernel.run(cell, name).status == "ok"
        yield kernel


def _said(kernel):
    (shown,) = kernel.run("%why all").displays
    return shown


def test_cells_are_grouped_by_the_root_of_their_change(notebook):
    """Each root is listed once with its cells; the headline counts both."""
    assert "No cell ran twice yet. 4 cells ran only once." in _said(notebook)["text/plain"]
    for name, cell in CELLS.items():
        notebook.run(cell.replace("size = 3", "size = 4"), name)
    shown = _said(notebook)
    lines = shown["text/plain"].splitlines()
    assert lines[0] == "4 of 4 cells changed. 2 root causes."
    edit = next(place for place, line in enumerate(lines) if "`size = 3` → `size = 4`" in line)
    assert lines[edit].startswith("  ◆ In[")
    cells = "\n".join(lines)
    for name in ("`a` 3 → 4 numbers", "`mean` ", "`double` 6 → 8"):
        assert name in cells
    assert any("numpy" in line and "◆" in line for line in lines)
    assert lines[-1].startswith("More about one of them: %why ")
    assert "◆" in shown["text/html"]


def test_nothing_changed(notebook):
    """The cells that ran again gave the same results."""
    notebook.run(CELLS["other"], "other")
    said = _said(notebook)["text/plain"]
    assert said == "None of 1 cell changed since the run before. 3 cells ran only once."


def test_as_json(notebook):
    """The JSON fits its schema; no other option is allowed with `all`."""
    notebook.run(CELLS["load"].replace("3", "5"), "load")
    notebook.run(CELLS["other"], "other")
    told = check("why_all", notebook.run("%why all --json").stdout)
    assert (told["cells"], told["compared"], told["changed"]) == (4, 2, 2)
    assert [root["kind"] for root in told["roots"]] == ["code"]
    assert len(told["roots"][0]["runs"]) == 2
    failed = notebook.run("%why all --prove")
    assert "`%why all` accepts no option except --json" in failed.stderr + failed.stdout + str(
        failed.error
    )


def test_after_a_restart_all_cells_lead_to_what_was_never_seeded(tmp_path):
    """All cells run, the kernel restarts, and all cells run again."""
    with Kernel(tmp_path) as kernel:
        for _ in range(2):
            kernel.run("%load_ext ipytorchseed")
            for name, cell in CELLS.items():
                kernel.run(cell, name)
            shown = kernel.run("%why all --json").stdout
            kernel.restart()
    told = json.loads(shown)
    assert told["changed"] == 2
    (root,) = told["roots"]
    assert "numpy was never seeded" in root["message"]
    assert len(root["runs"]) == 2
