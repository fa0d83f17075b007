"""The quickstart does what it says, in a fresh kernel and in the next one."""

from copy import deepcopy

import nbformat
import pytest
from nbclient import NotebookClient

from tests.checking.books import look
from tests.forking import forking
from tests.kernel import ROOT
from tests.test_gallery import told, words

NOTEBOOK = ROOT / "notebooks" / "quickstart.ipynb"
LIVE = "application/vnd.jupyter.widget-view+json"


def kept():
    """Return the notebook as it is in the repository."""
    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The executed notebook, and the output of its cells."""
    node = kept()
    said = []
    with pytest.MonkeyPatch.context() as patch, forking():
        patch.setenv("IPYTORCHSEED_DATA_DIR", str(tmp_path_factory.mktemp("ledger")))
        client = NotebookClient(node, timeout=250, record_timing=False, store_widget_state=False)
        client.extra_arguments = ["--IPyTorchSeed.budget=10"]  # however busy the machine is
        with client.setup_kernel():
            for index, cell in enumerate(node.cells):
                if cell.cell_type == "code":
                    client.execute_cell(cell, index)
                    said.append((cell.source, told(node)[cell.id]))
                    first = deepcopy(cell)
                    if "run-twice" in cell.metadata.get("tags", ()):
                        client.execute_cell(cell, index)
                        said.append((cell.source, told(node)[cell.id]))
                    # Kept is what a run from top to bottom shows.
                    cell.update(first)
                    # The live view needs its kernel; what is kept is the copy beside it.
                    cell.outputs = [
                        each for each in cell.outputs if LIVE not in each.get("data", {})
                    ]
    node.metadata.language_info = {"name": "python"}  # of any version
    return node, said


def test_the_kept_outputs_are_those_of_a_run(played, request):
    """Word for word; ``pytest --update-golden`` writes them again."""
    node, _ = played
    if request.config.getoption("--update-golden"):
        nbformat.write(node, NOTEBOOK)
    assert {name: words(text) for name, text in told(kept()).items()} == {
        name: words(text) for name, text in told(node).items()
    }


def test_it_tells_its_story(played):
    """Another number, why, the first number again; then one number, twice."""
    _, said = played
    plain = [text.strip() for source, text in said if source.startswith("score")]
    fixed = [text.split()[0] for source, text in said if source.startswith("%%deterministic")]
    (why,) = (text for source, text in said if source == "%why")
    (replay,) = (text for source, text in said if source == "%replay")
    assert len({*plain}) == len(plain) == 2
    assert len({*fixed}) == 1
    assert len(fixed) == 2
    assert "torch's random stream had moved on" in why
    assert replay.startswith(f"{plain[0]}\n✓")
    assert said[-1][0] == "%rng"


def test_a_check_says_that_it_repeats():
    """In two kernels that a check starts."""
    verdict = look(NOTEBOOK)[0]
    assert (verdict.reproducible, verdict.fault) == (True, None)
    assert {cell.outputs.value for cell in verdict.cells} == {"same"}


def test_what_it_keeps_is_true():
    """As a reader may ask: `ipytorchseed check --saved notebooks/quickstart.ipynb`."""
    (verdict,) = look(NOTEBOOK, saved=True)
    assert verdict.reproducible


def test_it_is_read_in_two_minutes():
    """Cells of at most 8 lines, and fewer than 250 words in all."""
    cells = kept().cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    prose = [cell.source for cell in cells if cell.cell_type == "markdown"]
    assert max(len(source.splitlines()) for source in code) <= 8
    assert sum(len(source.split()) for source in prose) < 250
