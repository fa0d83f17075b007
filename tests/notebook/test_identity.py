"""Runs are matched to cells over two openings of a notebook.

Each front end sends its own kind of ids.
"""

from __future__ import annotations

import json

import nbformat
import pytest

from tests.kernel import Kernel

DRAW, LOOK, OTHER = "import random\nx = random.random()\nx", "len('text')", "n = 5\nn"

FIRST = ("first-run", set())
MOVED = ("explained", {"rng"})
EDITED = ("explained", {"code", "rng"})


def vs_code(number):
    """Return ids as VS Code sends them: the cell's address, counted up per opening."""
    return {"cellId": f"vscode-notebook-cell:/home/me/a.ipynb#W{number}sZmlsZQ%3D%3D"}


def window(number):
    """Return ids as the Interactive Window sends them."""
    return {"cellId": f"vscode-interactive-input:/Interactive-1#{number}"}


def colab(number):
    """Return ids as Colab sends them."""
    return {"colab": {"cell_id": f"dXq{number}"}}


def lab(number):
    """Return ids as JupyterLab sends them for a file without ids: new ones."""
    return {"cellId": f"8ae0c7d1-{number}"}


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens the notebook again, given cell ids and texts."""
    path = tmp_path / "book.ipynb"
    with Kernel(tmp_path, JPY_SESSION_NAME=str(path)) as kernel:
        begun = []

        def open_it(cells=None, minor=5):
            if cells is not None:
                made = nbformat.v4.new_code_cell
                book = nbformat.v4.new_notebook(nbformat_minor=minor)
                book.cells = [made(text, id=name) for name, text in cells.items()]
                for cell in book.cells if minor < 5 else ():
                    del cell["id"]
                nbformat.write(book, path)
            if begun:
                kernel.restart()
            begun.append(True)
            assert kernel.run("%load_ext ipytorchseed").status == "ok"
            return kernel

        yield open_it


def last_of(kernel, text, metadata):
    """Run a cell; return ``%why``'s verdict and kinds of causes."""
    count = kernel.run(text, metadata=metadata).execution_count
    told = json.loads(kernel.run(f"%why {count} --json").stdout)
    known = told["cell"]["id"]
    assert known in {metadata.get("cellId"), metadata.get("colab", {}).get("cell_id"), text}
    assert all(each["name"] == known for each in told["causes"] if each["kind"] == "code")
    return told["verdict"], {cause["kind"] for cause in told["causes"]}


@pytest.mark.parametrize("sent", [vs_code, colab, lab])
def test_ids_that_begin_anew_do_not_lead_to_another_cell(opened, sent):
    """After an insertion, each id names the previous cell; the text decides."""
    kernel = opened({"a": DRAW, "b": LOOK}, minor=4)
    assert last_of(kernel, DRAW, sent(1)) == FIRST
    assert last_of(kernel, LOOK, sent(2)) == FIRST
    kernel = opened({"a": OTHER, "b": DRAW, "c": LOOK}, minor=4)
    assert last_of(kernel, OTHER, sent(1)) == FIRST
    assert last_of(kernel, DRAW, sent(2)) == MOVED
    assert last_of(kernel, LOOK, sent(3)) == ("same", set())


@pytest.mark.parametrize("sent", [vs_code, colab, lab])
def test_within_a_kernel_an_edited_cell_stays_the_same(opened, sent):
    """It is found again by its last text, unless it was edited in between."""
    kernel = opened()
    edited = f"{DRAW} + 1"
    assert last_of(kernel, DRAW, sent(1)) == FIRST
    assert last_of(kernel, edited, sent(1)) == EDITED
    kernel = opened()
    assert last_of(kernel, f"# moved\n{edited}", sent(7)) == MOVED
    assert last_of(kernel, DRAW, sent(7)) == EDITED
    kernel = opened()
    assert last_of(kernel, f"{DRAW} + 2", sent(1)) == FIRST


@pytest.mark.parametrize("sent", [vs_code, colab, lab])
def test_a_text_that_two_cells_had_is_neither(opened, sent):
    """No match is better than a wrong one; within a kernel the two are distinguished."""
    for _ in range(2):
        kernel = opened()
        for verdict in (FIRST, MOVED):
            for number in (1, 2):
                assert last_of(kernel, DRAW, sent(number)) == verdict
    assert len({run.cell for run in kernel.runs() if run.source == DRAW}) == 4


def test_the_interactive_window_gives_each_run_a_new_id(opened):
    """There, cells are identified by their text."""
    kernel = opened()
    assert last_of(kernel, DRAW, window(1)) == FIRST
    assert last_of(kernel, DRAW, window(2)) == MOVED
    assert last_of(opened(), DRAW, window(1)) == MOVED


def test_ids_of_the_file_hold_over_openings(opened):
    """Cells may be inserted, moved or edited; a part that was split off is a new cell."""
    cells = {"a1": DRAW, "b2": LOOK}
    kernel = opened(cells)
    for name, text in cells.items():
        assert last_of(kernel, text, {"cellId": name}) == FIRST
    edited = f"{DRAW} + 1"
    kernel = opened({"c3": OTHER, "b2": LOOK, "a1": edited, "d4": "x"})
    assert last_of(kernel, OTHER, {"cellId": "c3"}) == FIRST
    assert last_of(kernel, LOOK, {"cellId": "b2"}) == ("same", set())
    assert last_of(kernel, edited, {"cellId": "a1"}) == EDITED
    assert last_of(kernel, "x", {"cellId": "d4"}) == FIRST


def test_a_cell_that_ran_before_the_file_was_saved_keeps_its_id(opened):
    """Its id is in the file at the next opening."""
    kernel = opened({"a1": OTHER})
    assert last_of(kernel, DRAW, {"cellId": "new"}) == FIRST
    kernel = opened({"a1": OTHER, "new": f"{DRAW} + 1"})
    assert last_of(kernel, f"{DRAW} + 1", {"cellId": "new"}) == EDITED


def test_a_copy_does_not_take_the_place_of_its_original(opened):
    """The copy has the same text, and runs first."""
    kernel = opened({"a1": DRAW})
    assert last_of(kernel, DRAW, {"cellId": "a1"}) == FIRST
    kernel = opened()
    assert last_of(kernel, DRAW, {"cellId": "copy"}) == FIRST
    assert last_of(kernel, DRAW, {"cellId": "a1"}) == MOVED


def test_ranks_explain_their_own_runs_only(tmp_path):
    """Two processes share one notebook and one cell id."""
    path = {"JPY_SESSION_NAME": str(tmp_path / "book.ipynb")}
    with Kernel(tmp_path, RANK="0", **path) as one, Kernel(tmp_path, RANK="1", **path) as two:
        for kernel in (one, two):
            kernel.run("%load_ext ipytorchseed")
        for kernel in (one, two):
            assert last_of(kernel, DRAW, {"cellId": "a"}) == FIRST
        runs = {run.notebook[-1]: run.id for run in one.runs() if run.source == DRAW}
        assert [*runs] == ["0", "1"]
        refused = f"#{runs['0']} is a run of another rank"
        for line in (f"%seed rewind #{runs['0']}", f"%why 2 --against #{runs['0']}"):
            assert refused in two.run(line).stderr
        one.run("import random\nrandom.random()", "draw")
        assert last_of(two, DRAW, {"cellId": "a"}) == MOVED
        (cause,) = json.loads(two.run("%why a --json").stdout)["causes"]
        assert [blame["execution_count"] for blame in cause["blame"]] == [2]
        shown = two.run("%rng --text").stdout
        assert not [line for line in shown.splitlines() if line.lstrip().startswith("#")]


JOIN = (
    "import torch.distributed as dist\n"
    "dist.init_process_group('gloo', init_method='file://{store}', rank={rank}, world_size=2)"
)


def test_the_rank_is_that_of_the_process_group(tmp_path):
    """Two processes join a group in a cell, without a launcher's environment."""
    path = {"JPY_SESSION_NAME": str(tmp_path / "book.ipynb")}
    with Kernel(tmp_path, **path) as one, Kernel(tmp_path, **path) as two:
        for kernel in (one, two):
            kernel.run("%load_ext ipytorchseed")
        one.post(JOIN.format(store=tmp_path / "store", rank=0))  # each waits for the other
        assert two.run(JOIN.format(store=tmp_path / "store", rank=1)).status == "ok"
        for kernel in (one, two):
            assert last_of(kernel, DRAW, {"cellId": "a"}) == FIRST
        assert last_of(two, DRAW, {"cellId": "a"}) == MOVED
        (cause,) = json.loads(two.run("%why a --json").stdout)["causes"]
        assert [blame["execution_count"] for blame in cause["blame"]] == [3]
        ranks = [run.notebook[-1] for run in one.runs() if run.source == DRAW]
        assert sorted(ranks) == ["0", "1", "1"]
        for kernel in (one, two):
            assert kernel.run("dist.destroy_process_group()").status == "ok"
