"""The extension's share of the main thread's time in this project's notebooks."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
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


# Cells whose namespace holds hundreds of names of a library, and an object with long lists.
LARGE = (
    "import sympy", "from sympy import *", "x, y = symbols('x y')", "e = expand((x + y) ** 6)",
    "e2 = diff(e, x)", "solve(x**2 - 2, x)", "class A: pass", "o = A()",
    "o.a = [[float(i) for i in range(5000)] for _ in range(3)]", "s = sum(o.a[0])", "o.b = 3",
)  # fmt: skip


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
            if cell.cell_type == "code" and cell.source.strip() and "%load_ext" not in cell.source
        ]
        ours, took = _measure(cells, str(path.parent))
        share = 100 * sum(ours) / took
        found += [
            Row(f"{path.stem}: share of its {took:.1f} s", share, None, "", "%",
                "at most 2 %", share <= 2),
            _worst(path.stem, ours),
        ]  # fmt: skip
        all_ours += ours
        all_took += took
    share, mean = 100 * sum(all_ours) / all_took, sum(all_ours) / len(all_ours)
    found += [
        Row(f"all: share of their {all_took:.1f} s", share, None, "", "%",
            "at most 2 %", share <= 2),
        Row(f"all: mean of {len(all_ours)} cells", mean * MILLI, None, "", "ms",
            "at most 3 ms", mean <= 0.003),
        _worst("SymPy's names, long lists", _measure(LARGE, None)[0]),
    ]  # fmt: skip
    return found


def _measure(cells: Sequence[str], cwd: str | None) -> tuple[list[float], float]:
    """Run cells in a fresh kernel; return our seconds in each, and the sum of all."""
    told = Path(tempfile.mkdtemp()) / "told.json"
    with kernel(STOPWATCH, cwd=cwd) as run:
        took = sum(run(cell) for cell in cells)
        run(TOLD.format(path=str(told)))
    ours = json.loads(told.read_text(encoding="utf-8"))
    return [sum(pair) for pair in zip(ours[::2], ours[1::2], strict=False)], took


def _worst(what: str, ours: Sequence[float]) -> Row:
    worst = max(ours)
    return Row(f"{what}: worst cell", worst * MILLI, None, "", "ms", "at most 50 ms", worst <= 0.05)
