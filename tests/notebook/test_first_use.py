"""Looking draws no number, even on first use, when its dependencies are imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.kernel import ROOT, Kernel
from tests.notebook.looking import digests

LOOKING = [
    "%load_ext ipytorchseed",
    "%seed each 4 --help",
    "%seed",
    "%seed off",
    "%seed no such word",
    "%deterministic",
    "%deterministic --json",
    "%deterministic on",
    "%deterministic off",
    "%deterministic on --warn\ntorch.zeros(2).put_(torch.tensor([1]), torch.ones(1))",
    "torch.zeros(2).put_(torch.tensor([1]), torch.ones(1))",
    "%deterministic off",
    "%%deterministic\npass",
    "%%deterministic --warn --json\ntorch.zeros(2).put_(torch.tensor([1]), torch.ones(1))",
    "%%deterministic\ntorch.zeros(2).put_(torch.tensor([1]), torch.ones(1))",
    "%%deterministic 42 --isolate\ntorch.rand(1)",
    "import ipytorchseed as its\nprint(its.report(), its.snapshot())",
    "%seed?",
    "%%deterministic?",
    "%unload_ext ipytorchseed",
]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A kernel in which the extension has not been used yet."""
    with Kernel(tmp_path_factory.mktemp("fresh")) as kernel:
        kernel.run("import random, numpy.random, torch")
        yield kernel


@pytest.mark.parametrize("cell", LOOKING)
def test_what_is_no_seed_moves_no_source_at_its_first_use(fresh, cell):
    """Loading, reports, scopes, alerts and help leave every source as it is."""
    before = digests(fresh)
    fresh.run(cell)
    assert digests(fresh) == before


LOAD = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = {*sys.modules}
assert not {"torch", "numpy"} & before
shell.run_line_magic("load_ext", "ipytorchseed")
assert not {"msgspec", "sqlite3"} & {*sys.modules} - before  # imported by the first cell
shell.run_cell("a = 1", store_history=False)
shell.run_cell("%unload_ext ipytorchseed", store_history=False)
print(*sorted({"torch", "numpy", "anywidget", "ipywidgets", "rich", "click"} & {*sys.modules}))
"""


@pytest.mark.parametrize(
    ("before", "imported"), [("", ""), ("import numpy", "numpy")], ids=["ours", "a user's"]
)
def test_loading_imports_neither_torch_nor_the_widget_stack(tmp_path, before, imported):
    """Running cells does not import them either, unless the user's code does."""
    code = LOAD.replace("a = 1", before or "a = 1")
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.split("\n")[-2]) == (0, imported), done.stderr
