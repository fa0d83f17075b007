"""Runs the cells of a notebook once, in order, and keeps their outputs."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ipytorchseed.checking.kernel import FreshKernel
from ipytorchseed.errors import UncheckableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ipytorchseed.checking.notebook import Cell, Notebook
    from ipytorchseed.checking.options import Options

    Outputs = Sequence[Mapping[str, Any]]
    Step = Callable[[], None]


class Pass(Struct):
    """The outputs of a notebook's cells, run one after the other.

    Attributes:
        outputs: What each cell showed, by its place, of those that ran.
        ledger: The file in which the runs are recorded.
        begun: The places of the cells that it came to, also of one that ended it.
        failed: The cell that raised without being tagged for it, and its error in a line.
        fault: Why it did not come to its end, in a line.
    """

    ledger: Path
    outputs: dict[int, Outputs] = {}
    begun: set[int] = set()
    failed: tuple[Cell, str] | None = None
    fault: str | None = None


async def run_through(notebook: Notebook, options: Options, folder: Path, step: Step) -> list[Pass]:
    """Run a notebook in a fresh kernel, and with ``rerun`` each cell a second time.

    The second time goes from the last cell back to the first: each cell then finds what it changed
    itself and what the cells after it changed, before the cells that make its inputs make them
    anew.

    Args:
        notebook: Which.
        options: How.
        folder: Where its records and sockets go: of its own, and empty.
        step: Called after each cell.

    Returns:
        One pass; with ``rerun`` two.
    """
    kernel = FreshKernel(notebook, options, folder)
    node = copy.deepcopy(notebook.node)
    first = Pass(kernel.ledger)
    passes = [first]
    calm = False
    try:
        await kernel.start(node)
        for cell in notebook.runnable:
            first.begun.add(cell.place)
            error = await kernel.run(cell, node)
            first.outputs[cell.place] = copy.deepcopy(node.cells[cell.place].outputs)
            step()
            if error is not None:
                first.failed = cell, error
                break
        if options.rerun:
            passes.append(again := Pass(kernel.ledger))
            for cell in reversed(notebook.runnable):
                if cell.place in first.outputs:
                    again.begun.add(cell.place)
                    await kernel.run(cell, node)
                    again.outputs[cell.place] = node.cells[cell.place].outputs
                step()
        else:
            first.outputs = {place: node.cells[place].outputs for place in first.outputs}
        calm = True
    except UncheckableError as error:
        passes[-1].fault = str(error)
    finally:
        await kernel.stop(now=not calm)
    return passes
