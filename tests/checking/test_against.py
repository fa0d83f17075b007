"""Compares one fresh run with a receipt: only what differs is named."""

from __future__ import annotations

import json
import os

import pytest

from ipytorchseed.checking import report
from ipytorchseed.receipts.privacy import Places
from ipytorchseed.receipts.receipt import read
from tests.checking.books import book, look

IMPORTS, NOISE, DATA, SUM, TEXT = range(5)
CELLS = (
    "import torch",
    "noise = torch.rand(4)\nprint(noise)",
    "rows = [float(line) for line in open('train.csv')]\nprint(sum(rows))",
    "x = torch.arange(300_000) / 7\nprint((x * x.cos()).sum().item())\n"
    "print(torch.nn.functional.layer_norm(x[:3000].reshape(30, 100), (100,)).abs().sum().item())",
    "step = 2\nprint(10 * step)",
)
SEED, FILE, CODE = ("rng", "torch.cpu"), ("file", "train.csv"), ("code", f"cell-{TEXT}")
THREADS, CPU, TORCH = (
    ("flag", "torch.num_threads"),
    ("environment", "cpu"),
    ("environment", "torch"),
)

# The cell in which each difference shows.
CELL = {SEED: NOISE, FILE: DATA, CODE: TEXT, THREADS: SUM, CPU: SUM, TORCH: SUM}

PLANTED = [
    (), (SEED,), (FILE,), (CODE,), (TORCH,), (SEED, FILE), (SEED, CODE), (FILE, CODE), (SEED, TORCH),
    (FILE, TORCH), (CODE, TORCH), (THREADS, CODE), (CPU, FILE), (SEED, FILE, CODE, TORCH),
]  # fmt: skip
VARIABLES = {THREADS: ("OMP_NUM_THREADS", "1"), CPU: ("ATEN_CPU_CAPABILITY", "default")}


def write(folder, planted=()):
    """Write the notebook and its data, with differences planted in them."""
    cells = [text.replace("step = 2", "step = 3") if CODE in planted else text for text in CELLS]
    (folder / "train.csv").write_text("1.5\n2.5\n" if FILE in planted else "1.5\n2.25\n")
    return book(folder / "train", *cells)


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A folder with a receipt of the notebook as it is, and its content."""
    folder = tmp_path_factory.mktemp("there")
    (verdict,) = look(write(folder), receipt=True, seed=42)
    assert verdict.exit_code == 0
    (folder / "there.json").write_bytes(verdict.receipt)
    return folder


def as_by(torch, content):
    """Return a receipt as if made with another version of torch.

    The version and the rounding differ.
    """
    told = json.loads(content)
    told["settings"]["torch"] = torch
    name = told["cells"][SUM]["outputs"]["stdout"]
    told["values"]["0" * 16] = {
        **told["values"][name],
        "digest": "0" * 16,
        "series": [number * (1 + 2e-7) for number in told["values"][name]["series"]],
    }
    told["cells"][SUM]["outputs"]["stdout"] = "0" * 16
    return json.dumps(told).encode()


def hold(there, folder, planted):
    """Run the notebook with planted differences, and compare it with the receipt."""
    content = (there / "there.json").read_bytes()
    (folder / "there.json").write_bytes(as_by("2.9.1", content) if TORCH in planted else content)
    path = write(folder, planted)
    receipt = read(folder / "there.json", Places.here(str(path)))
    cold = not {THREADS, CPU}.isdisjoint(planted)
    return look(path, against=receipt, seed=43 if SEED in planted else 42, cold=cold)[0]


def named(verdict):
    """Return what all cells name together, except what earlier cells passed on."""
    causes = [cause for cell in verdict.cells for cause in cell.causes if cause.kind != "input"]
    return {(each.kind, os.path.basename(each.name)) for each in causes}  # noqa: PTH119


@pytest.mark.parametrize(
    "planted", PLANTED, ids=lambda each: "+".join(n for _, n in each) or "none"
)
def test_what_differs_is_named_and_nothing_else(there, tmp_path, monkeypatch, planted):
    """Alone and together; the first cell to show a difference is the first to differ."""
    for difference in {*planted} & VARIABLES.keys():
        monkeypatch.setenv(*VARIABLES[difference])
    verdict = hold(there, tmp_path, planted)
    assert named(verdict) == {*planted}
    assert verdict.exit_code == bool(planted)
    if planted:
        assert verdict.first.cell.index == min(CELL[each] for each in planted)
        rounding = [cell.cell.index for cell in verdict.cells if cell.rounding]
        assert rounding == [SUM] * ({THREADS, CPU, TORCH} & {*planted} != set())


def test_a_notebook_that_replays(tmp_path):
    """A replayed run is recorded under its original cell.

    No cell is reported as missing.
    """
    draw = "import random\nrandom.random()"
    path = book(tmp_path / "replays", "%load_ext ipytorchseed\n%seed 3", draw, "%why", "%replay 2")
    (verdict,) = look(path)
    assert (verdict.exit_code, verdict.unrecorded) == (0, [])
    (verdict,) = look(path, receipt=True)
    (tmp_path / "there.json").write_bytes(verdict.receipt)
    receipt = read(tmp_path / "there.json", Places.here(str(path)))
    (verdict,) = look(path, against=receipt)
    assert (verdict.exit_code, verdict.note, verdict.unrecorded) == (0, "", [])


def test_cells_come_and_go(there, tmp_path):
    """New and removed cells are reported.

    The others are matched by text if their ids differ, and compared.
    """
    write(tmp_path)
    cells = [text for place, text in enumerate(CELLS) if place != TEXT]
    path = book(tmp_path / "other", "added = 1", *cells)
    receipt = read(there / "there.json", Places.here(str(path)))
    (verdict,) = look(path, against=receipt, seed=42)
    assert (verdict.exit_code, named(verdict)) == (0, set())
    assert (
        verdict.note
        == "not in the receipt: In[1]; 1 of 5 cells in the receipt are not in this notebook"
    )
    assert "not in the receipt: In[1]" in report.text([verdict])
    (verdict,) = look(book(tmp_path / "another", *["#md Words."] * 6, "added = 1"), against=receipt)
    assert verdict.fault == "the receipt is for train.ipynb and has no cell of this notebook"
    assert verdict.exit_code == 2


def test_what_is_told_of_the_first_cell(there, tmp_path):
    """The report gives its output, the distance, the cause and the fix."""
    verdict = hold(there, tmp_path, (TORCH, SEED))
    said = report.text([verdict])
    assert "In[2] is the first to differ\n" in said
    assert "torch's random stream started in a different state (seed 43, not seed 42)" in " ".join(
        said.split()
    )
    assert "the torch version is 2." in said
    assert "try: torch.manual_seed(42)" in said
    assert "also different: In[4] (torch)" not in said
    told = json.loads(report.as_json([verdict]))["notebooks"][0]
    assert [each["outputs"] for each in told["cells"]] == [
        "same", "different", "same", "rounding", "same",
    ]  # fmt: skip
    assert "; rounding, at most" in verdict.cells[SUM].changes[0].detail
