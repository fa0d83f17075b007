"""The gallery deceives as it says, ``%why`` tells it, and so does a check."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.checking.books import look
from tests.forking import forking

pytestmark = pytest.mark.timeout(900)  # two dozen kernels, on any machine

GALLERY = Path(__file__).parents[1] / "notebooks" / "gallery"
NOTEBOOKS = sorted(GALLERY.glob("*.ipynb"))

# Why two kernels differ; None if the cell itself is nondeterministic. Other cells repeat.
FRESH = {"hash_order": ("environment", "PYTHONHASHSEED"), "atomics": None}

# Why a cell that runs again in the same kernel differs.
AGAIN = {
    "dropout": ("input", "model"),
    "data_order": ("input", "loader"),
    "loader_draws": ("rng", "torch.cpu"),
    "batchnorm": ("input", "model"),
    "mutated_inputs": ("input", "temperature"),
    "threads": ("flag", "torch.num_threads"),
}

NUMBER = re.compile(r"-?\d[\d.,]*(?:e[-+]?\d+)?")
HEX = re.compile(r"(?<![\d.])\b[0-9a-f]{8}\b")
CURVE = re.compile("[▁▂▃▄▅▆▇█]+")
SOME = re.compile(r"changed [\w, `'()→]+ and \d+ more")


# Words that are in the output of cells about races, whenever the threads race.
BY_CHANCE = {"atomics-08": "does not repeat: aten::index_put_"}


def words(text):
    """Leave out numbers, curves and names, which differ by machine or by chance.

    What is left is not held against its line breaks: a longer number moves them.
    """
    for noise in (SOME, CURVE, HEX, NUMBER):
        text = noise.sub("N", text)
    return text.split()


def told(node):
    """Return the text of each code cell's outputs, by its id."""
    texts = {
        cell.id: "".join(
            output.get("text") or output.get("data", {}).get("text/plain", "")
            for output in cell.outputs
        )
        for cell in node.cells
        if cell.cell_type == "code"
    }
    sure = {name: said for name, said in BY_CHANCE.items() if said in texts.get(name, "")}
    return {**texts, **sure}


def execute(path, folder, monkeypatch):
    """Run a notebook in a fresh kernel, and then in the next one.

    Return it as that left it.
    """
    monkeypatch.setenv("IPYTORCHSEED_DATA_DIR", str(folder))
    for _ in range(2 if path.stem == "hash_order" else 1):
        node = nbformat.read(path, as_version=4)
        client = NotebookClient(node, timeout=250, record_timing=False)
        client.extra_arguments = ["--IPyTorchSeed.budget=10"]  # however busy the machine is
        with nullcontext() if path.stem == "hash_order" else forking():
            client.execute()
    node.metadata.language_info = {"name": "python"}  # of any version
    return node


@pytest.fixture(scope="module")
def fresh():
    """What a check says of each, in two kernels."""
    cold = [path for path in NOTEBOOKS if path.stem == "hash_order"]
    warm = [path for path in NOTEBOOKS if path not in cold]
    verdicts = [*look(*cold, cold=True), *look(*warm)]
    return {verdict.path.stem: verdict for verdict in verdicts}


@pytest.fixture(scope="module")
def again():
    """What a check says of each, in one kernel."""
    paths = [path for path in NOTEBOOKS if path.stem in AGAIN]
    return {verdict.path.stem: verdict for verdict in look(*paths, rerun=True)}


def test_every_notebook_is_expected():
    """No notebook without a cause that a check has to find."""
    assert {path.stem for path in NOTEBOOKS} == {*FRESH, *AGAIN}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_check_in_fresh_kernels(path, fresh):
    """Seeds make most of them repeat; hashes and threads take no seed."""
    verdict = fresh[path.stem]
    assert verdict.fault is None
    if path.stem not in FRESH:
        assert verdict.reproducible is True
        return
    causes = [(cause.kind, cause.name) for cause in verdict.first.causes]
    wanted = FRESH[path.stem]
    assert causes == ([] if wanted is None else [wanted])
    assert verdict.first.does_not_repeat is (wanted is None)


@pytest.mark.parametrize("name", AGAIN)
def test_a_check_of_running_again(name, again):
    """The misleading cell is listed as not safe to run again, with its cause."""
    verdict = again[name]
    assert verdict.fault is None
    causes = {(cause.kind, cause.name) for cell in verdict.differing for cause in cell.causes}
    assert AGAIN[name] in causes


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_kept_outputs_are_those_of_a_run(path, request, tmp_path, monkeypatch):
    """Word for word; ``pytest --update-golden`` writes them again."""
    node = execute(path, tmp_path, monkeypatch)
    if request.config.getoption("--update-golden"):
        nbformat.write(node, path)
    kept = told(nbformat.read(path, as_version=4))
    assert {name: words(text) for name, text in kept.items()} == {
        name: words(text) for name, text in told(node).items()
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_cause_is_told_in_the_notebook(path):
    """A reader who runs nothing sees what ``%why`` says."""
    said = "".join(told(nbformat.read(path, as_version=4)).values())
    cause = FRESH.get(path.stem) or AGAIN.get(path.stem)
    expected = "no recorded input changed" if cause is None else cause[1]
    if cause == ("environment", "PYTHONHASHSEED"):
        expected = "string hashes"
    if cause == ("input", "loader"):  # which draws its order from there
        expected = "torch's random stream"
    assert "compared with" in " ".join(said.split())
    assert expected in said
