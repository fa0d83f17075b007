"""Where people work.

Autoload, and the tools that run notebooks, as ``docs/where.md`` tells it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import nbformat
import pytest

from ipytorchseed.ledger.place import NAME
from ipytorchseed.ledger.store import Ledger
from tests.kernel import ROOT, Kernel

PAGE = (ROOT / "docs/where.md").read_text("utf-8")
SEEDS = {"papermill": "%seed 42 -q"}
# The magic in tools without an entry in ``SEEDS``: it would import torch in each.
OTHER_SEED = "import random; random.seed(42)\n%seed"
# The first number of `random` after the seed 42.
DRAWN = "0.6394267984578837"

TOOLS = {
    "papermill": "-m papermill in.ipynb out.ipynb",
    "jupytext": "-m jupytext --to ipynb --set-kernel python3 --execute book.py --output out.ipynb",
    "nbconvert": "-m nbconvert --to notebook --execute in.ipynb --output out.ipynb",
    "nbmake": "-m pytest -p no:cacheprovider --nbmake --overwrite in.ipynb",
}


def test_a_profile_loads_it_at_each_start(tmp_path):
    """By the line that the page gives."""
    line = re.search(r"^get_config\(\).*$", PAGE, re.MULTILINE)[0]
    profile = tmp_path / ".ipython/profile_default"
    profile.mkdir(parents=True)
    (profile / "ipython_config.py").write_text(line)
    with Kernel(tmp_path) as kernel:
        kernel.run("import random\nrandom.random()", "first")
        assert [run.cell for run in kernel.runs()] == ["first"]
        assert "42" in kernel.run("%seed 42").stdout


@pytest.mark.tools
@pytest.mark.parametrize("tool", TOOLS)
def test_tools_that_run_notebooks_load_it(tool, tmp_path):
    """The magic works there, and the runs are on record, each cell known by its text."""
    assert tool in PAGE
    cells = [
        "%load_ext ipytorchseed",
        SEEDS.get(tool, OTHER_SEED),
        "import random\nprint(random.random())",
    ]
    book = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python", "language": "python"}}
    )
    book.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    nbformat.write(book, tmp_path / "in.ipynb")
    script = "\n\n".join(f"# +\n{re.sub('(?m)^%', '# %', cell)}" for cell in cells)
    (tmp_path / "book.py").write_text(f"{script}\n")
    homes = {name: str(tmp_path / name) for name in ("IPYTHONDIR", "IPYTORCHSEED_DATA_DIR")}
    env = {**os.environ, **homes, "PYTHONPATH": str(ROOT)}
    env.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(
        [sys.executable, *TOOLS[tool].split()],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    out = tmp_path / ("in.ipynb" if tool == "nbmake" else "out.ipynb")
    *_, seeded, drawn = nbformat.read(out, as_version=4).cells
    assert DRAWN in str(drawn.outputs)
    assert ("python" in str(seeded.outputs)) is (tool not in SEEDS)
    with Ledger.open(tmp_path / "IPYTORCHSEED_DATA_DIR" / NAME, read_only=True) as ledger:
        assert cells[-1] in [run.cell for run in ledger.runs()]
