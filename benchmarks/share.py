"""Our share of the main thread's time in real notebooks: every cell of those in ``notebooks``."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import nbformat

from benchmarks.kernel import kernel
from benchmarks.table import MILLI, Row

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"

STOPWATCH = """
import time as _time
from IPython import get_ipython as _shell
from ipytorchseed.session.session import Session as _Session
_ours = []
def _timed(original):
    def call(*args, **kwargs):
        began = _time.thread_time()
        try:
            return original(*args, **kwargs)
        finally:
            _ours.append(_time.thread_time() - began)
    return call
for _name in ("begin_cell", "end_cell"):
    setattr(_Session, _name, _timed(getattr(_Session, _name)))
"""


def rows() -> list[Row]:
    """Measure."""
    found = []
    for path in sorted(NOTEBOOKS.rglob("*.ipynb")):
        cells = [
            cell.source
            for cell in nbformat.read(path, as_version=4).cells
            if cell.cell_type == "code" and cell.source.strip()
        ]
        told = Path(tempfile.mkdtemp()) / "told.json"
        load = "import torch\n%load_ext ipytorchseed"
        with kernel(load, STOPWATCH, cwd=str(path.parent)) as run:
            took = [run(cell) for cell in cells if "%load_ext" not in cell]
            run(f"import json; open({str(told)!r}, 'w').write(json.dumps(_ours))")
        ours = json.loads(told.read_text(encoding="utf-8"))
        ours = [sum(pair) for pair in zip(ours[1::2], ours[2::2], strict=False)]
        share = 100 * sum(ours) / sum(took)
        found += [
            Row(f"{path.stem}: share of its {sum(took):.1f} s", share, None, "", "%",
                "at most 2 %", share <= 2),
            Row(f"{path.stem}: worst cell", max(ours) * MILLI, None, "", "ms",
                "at most 200 ms", max(ours) <= 0.2),
        ]  # fmt: skip
    return found
