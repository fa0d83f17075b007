"""The quickstart does what it says, in a fresh kernel and in the next one."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert.preprocessors import ExecutePreprocessor

from tests.checking.books import look
from tests.forking import forking

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "quickstart.ipynb"
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e-?\d+)?")


def execute():
    """Run the notebook in a fresh kernel; return the printed text of each of its cells."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = {"metadata": {"path": str(NOTEBOOK.parent)}}
    with forking():
        NotebookClient(notebook, timeout=250, resources=folder).execute()
    return {cell.source: text_of(cell) for cell in notebook.cells if cell.cell_type == "code"}


def text_of(cell):
    """Join all that a cell printed or displayed as text."""
    return "\n".join(
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
    )


@pytest.fixture(scope="module")
def runs():
    """Two executions in two fresh kernels."""
    return execute(), execute()


def test_every_number_is_the_same_in_two_fresh_kernels(runs):
    """Losses, digests, draws, random tensors: all of them, in every cell."""
    first, second = runs
    numbers = {source: NUMBER.findall(text) for source, text in first.items()}
    assert sum(map(len, numbers.values())) > 30, "the notebook prints numbers to compare"
    assert numbers == {source: NUMBER.findall(text) for source, text in second.items()}


def test_a_check_says_that_it_repeats():
    """Workers, losses, figures, reports: in two kernels that a check starts."""
    verdict = look(NOTEBOOK)[0]
    assert (verdict.reproducible, verdict.fault) == (True, None)
    assert {cell.outputs.value for cell in verdict.cells} == {"same"}


def each_cells():
    """Return the cells of the section on ``%seed each``, and what the notebook keeps of each."""
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    begin = next(n for n, cell in enumerate(cells) if "## A seed for every cell" in cell.source)
    section = cells[
        begin + 1 : next(n for n in range(begin + 1, len(cells)) if cells[n].cell_type != "code")
    ]
    return {cell.source: text_of(cell).strip() for cell in section}


TOLD = "with open('told', 'a') as file: print(_, file=file)"


def test_each_cell_has_its_numbers_in_nbconvert_and_in_check(tmp_path):
    """Those that the notebook shows, though other cells ran before, and ids are others."""
    kept = each_cells()
    drawn = [source for source in kept if source.startswith("torch.")]
    assert len(drawn) >= 2
    sources = ["%load_ext ipytorchseed", "import torch; torch.rand(7);", "%seed each 42"]
    sources += [source for cell in reversed(drawn) for source in (cell, TOLD)]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in sources])
    path = tmp_path / "book.ipynb"
    nbformat.write(book, path)
    with forking():
        ExecutePreprocessor(timeout=250).preprocess(book, {"metadata": {"path": str(tmp_path)}})
    shown = {cell.source: text_of(cell).strip() for cell in book.cells}
    assert {source: shown[source] for source in drawn} == {source: kept[source] for source in drawn}
    told = tmp_path / "told"
    first = told.read_text("utf-8")
    assert first == "".join(f"{kept[source]}\n" for source in reversed(drawn))
    told.unlink()
    assert look(path)[0].reproducible
    # Both runs of a check append to this one file, each in its own kernel and at its own pace.
    assert sorted(told.read_text("utf-8").splitlines()) == sorted(2 * first.splitlines())


def test_the_problem_and_the_answer_are_shown(runs):
    """A second run after one `%seed 42` differs; two runs under `%%deterministic 42` do not."""
    verdicts = {
        source.splitlines()[0]: text.rpartition("the same:")[2].split()[0]
        for source, text in runs[0].items()
        if "the same:" in text
    }
    assert verdicts == {"second = train()": "False", "%%deterministic 42": "True"}


def test_the_kept_outputs_are_those_of_this_code():
    """The notebook is committed with its outputs, none of them an error."""
    kept = nbformat.read(NOTEBOOK, as_version=4)
    outputs = [output for cell in kept.cells for output in cell.get("outputs", [])]
    assert outputs
    assert not [output for output in outputs if output.output_type == "error"]
