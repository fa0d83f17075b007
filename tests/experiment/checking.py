"""A check of code in its own namespace, without a shell."""

from __future__ import annotations

import linecache
import math
from contextlib import nullcontext
from typing import Any

from ipytorchseed.experiment.check import Check
from ipytorchseed.experiment.repeating import RepeatedCell, Shown
from ipytorchseed.reads.cell import effects_of_cell
from ipytorchseed.reads.following import find_dependencies
from ipytorchseed.session.outputs import OutputWatch
from ipytorchseed.trace.places import Lines

FILE = "<a cell that is checked>"


class Cell:
    """Runs a cell's code, as a shell does; ``print`` is heard."""

    def __init__(self, source: str, names: dict[str, Any]) -> None:
        self.source = source
        self.names = names
        self.runs = 0
        linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)

    def __call__(self, around) -> Shown:
        """Run it once more."""
        outputs = OutputWatch()
        self.runs += 1
        self.names["print"] = lambda *words: outputs.printed(f"{' '.join(map(str, words))}\n")
        error = None
        try:
            with around:
                exec(compile(self.source, FILE, "exec"), self.names)  # noqa: S102 -- a cell's code
        except Exception as raised:  # noqa: BLE001 -- as a shell would
            error = raised
        return Shown(outputs.record(), error=error)


def check(source: str, names: dict[str, Any], runs: int = 2, **options: Any):
    """Check a cell; return what was found, and the cell."""
    names["__name__"] = "__main__"
    cell = Cell(source, names)
    names["print"] = print
    dependencies = find_dependencies(
        effects_of_cell(source, lambda text: text), names,
        hidden={"print", "__builtins__"}, seconds=math.inf,
    )  # fmt: skip
    repeated = RepeatedCell(
        names, dependencies, cell, lines=Lines(FILE, names), source=source,
        hidden=frozenset({"print", "__builtins__"}), **options,
    )  # fmt: skip
    made = Check(repeated, runs)
    shown = cell(nullcontext())
    made.first(shown)
    return made.finish(), cell
