"""The time of importing the package and loading the extension."""

from __future__ import annotations

import statistics
import subprocess
import sys

from benchmarks.table import MILLI, Row

IMPORT = """
import time
begin = time.perf_counter()
import {module}
print(time.perf_counter() - begin)
"""

LOAD = """
import sys, time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
begin = time.perf_counter()
shell.run_line_magic("load_ext", "ipytorchseed")
print(time.perf_counter() - begin)
assert "torch" not in sys.modules
"""

FIRST_CELL = """
import time
import ipykernel.kernelapp, torch
import ipytorchseed.notebook.extension
begin = time.perf_counter()
import ipytorchseed.session.session, ipytorchseed.ledger.store
print(time.perf_counter() - begin)
"""


def fresh(program: str, rounds: int = 15) -> float:
    """Run a program in fresh interpreters; return the median of the seconds it prints."""
    command = [sys.executable, "-c", program]
    outputs = [
        subprocess.run(command, capture_output=True, check=True).stdout for _ in range(rounds)
    ]
    return statistics.median(map(float, outputs))


def rows() -> list[Row]:
    """Return the measured rows."""
    ours, numpy = (fresh(IMPORT.format(module=name)) * MILLI for name in ("ipytorchseed", "numpy"))
    load, first = (fresh(program) * MILLI for program in (LOAD, FIRST_CELL))
    return [
        Row("import ipytorchseed", ours, numpy, "import numpy", "ms", "under 20 ms", ours < 20),
        Row("%load_ext, torch not imported", load, None, "", "ms", "under 60 ms", load < 60),
        Row("imports of the first tracked cell", first, None, "", "ms", "under 40 ms", first < 40),
    ]
