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
def _watch():
    import time
    began = time.thread_time()
    get_ipython().run_line_magic("load_ext", "ipytorchseed")
    from ipytorchseed.notebook.tracking import Tracking
    Tracking.took = [time.thread_time() - began, 0.0]
    def timed(original):
        def call(*args, **kwargs):
            began = time.thread_time()
            try:
                return original(*args, **kwargs)
            finally:
                Tracking.took.append(time.thread_time() - began)
        return call
    for name in ("begin", "end"):
        setattr(Tracking, name, timed(getattr(Tracking, name)))
_watch()
del _watch
"""
"""Leaves no variable in the notebook: each would be looked at, and its time be counted as ours."""

TOLD = """
import json
from ipytorchseed.notebook.tracking import Tracking
open({path!r}, 'w').write(json.dumps(Tracking.took))
"""


def rows() -> list[Row]:
    """Measure each notebook in a fresh kernel, with its imports and ours, and all together."""
    found = []
    all_ours = all_took = 0.0
    for path in sorted(NOTEBOOKS.rglob("*.ipynb")):
        cells = [
            cell.source
            for cell in nbformat.read(path, as_version=4).cells
            if cell.cell_type == "code" and cell.source.strip()
        ]
        told = Path(tempfile.mkdtemp()) / "told.json"
        with kernel(STOPWATCH, cwd=str(path.parent)) as run:
            took = [run(cell) for cell in cells if "%load_ext" not in cell]
            run(TOLD.format(path=str(told)))
        ours = json.loads(told.read_text(encoding="utf-8"))
        ours = [sum(pair) for pair in zip(ours[::2], ours[1::2], strict=False)]
        share = 100 * sum(ours) / sum(took)
        found += [
            Row(f"{path.stem}: share of its {sum(took):.1f} s", share, None, "", "%",
                "at most 2 %", share <= 2),
            Row(f"{path.stem}: worst cell", max(ours) * MILLI, None, "", "ms",
                "at most 200 ms", max(ours) <= 0.2),
        ]  # fmt: skip
        all_ours += sum(ours)
        all_took += sum(took)
    share = 100 * all_ours / all_took
    found.append(Row(f"all: share of their {all_took:.1f} s", share, None, "", "%",
                     "at most 2 %", share <= 2))  # fmt: skip
    return found
