"""The extension's share of the main thread's time in this project's notebooks."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import nbformat

from benchmarks.kernel import kernel
from benchmarks.table import MILLI, Row

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"

STOPWATCH = """
%load_ext ipytorchseed
def _watch():
    import time
    from ipytorchseed.ledger import store
    from ipytorchseed.session.session import Session
    def timed(original):
        def call(*args, **kwargs):
            if args[0].ledger.path is None:  # a trial
                return original(*args, **kwargs)
            began = time.thread_time()
            try:
                return original(*args, **kwargs)
            finally:
                Session.took.append(time.thread_time() - began)
        return call
    Session.took = []
    for name in ("begin_cell", "end_cell"):
        setattr(Session, name, timed(getattr(Session, name)))
_watch()
del _watch
"""
"""Leaves no variable in the notebook, since the extension would inspect it in each cell."""

TOLD = """
import json
from ipytorchseed.session.session import Session
open({path!r}, 'w').write(json.dumps(Session.took))
"""


def rows() -> list[Row]:
    """Return rows for each notebook, run in a fresh kernel, and for all together.

    The time of loading the extension is not counted; ``starting`` measures it.
    """
    found = []
    all_ours: list[float] = []
    all_took = 0.0
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
                "at most 50 ms", max(ours) <= 0.05),
        ]  # fmt: skip
        all_ours += ours
        all_took += sum(took)
    share, mean = 100 * sum(all_ours) / all_took, sum(all_ours) / len(all_ours)
    found += [
        Row(f"all: share of their {all_took:.1f} s", share, None, "", "%",
            "at most 2 %", share <= 2),
        Row(f"all: mean of {len(all_ours)} cells", mean * MILLI, None, "", "ms",
            "at most 3 ms", mean <= 0.003),
    ]  # fmt: skip
    return found
