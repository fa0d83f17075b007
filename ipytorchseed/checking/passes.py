"""Passes through a notebook in a fresh kernel, and the runs that they record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.checking.kernel import FreshKernel, Options, fresh_kernel
from ipytorchseed.checking.notebook import Cell, Notebook
from ipytorchseed.checking.outputs import Outputs, States, Views
from ipytorchseed.errors import LedgerError, UncheckableError
from ipytorchseed.ledger.place import NAME
from ipytorchseed.ledger.records import Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.questions import Seeds
from ipytorchseed.reads.seed_arguments import Lacking
from ipytorchseed.receipts.receipt import Receipt
from ipytorchseed.session.states import LedgerStates
from ipytorchseed.why.evidence import HistoryLookup

# Seconds to wait for an answer about the calls in cells.
_PATIENCE = 10


class Pass(Struct):
    """One pass through a notebook.

    Attributes:
        ledger: The file in which the runs are recorded.
        outputs: The outputs of each cell that ran, by its index.
        lacking: The calls that accept a seed and do not set it, by the index of their cell.
        begun: The indices of the cells that were started, including one that ended the pass.
        failed: The cell that raised an error that it may not raise, and the error in one line.
        fault: Why the pass did not reach its end, in one line.
        widgets: The widgets at the end of the pass.
    """

    ledger: Path
    outputs: dict[int, Outputs] = {}
    lacking: dict[int, list[Lacking]] = {}
    begun: set[int] = set()
    failed: tuple[Cell, str] | None = None
    fault: str | None = None
    widgets: States = {}


async def run_through(
    notebook: Notebook, options: Options, folder: Path, step: Callable[[], None]
) -> list[Pass]:
    """Run a notebook in a fresh kernel, and with ``rerun`` each cell a second time.

    The second pass goes from the last cell back to the first. So each cell runs again after its own
    changes and those of later cells, but before the cells that create its inputs run again.

    Args:
        notebook: The notebook.
        options: How to run it.
        folder: An empty folder for the kernel's records and sockets.
        step: Called after each cell.

    Returns:
        One pass; with ``rerun`` two.
    """
    first = Pass(folder / NAME)
    passes = [first]

    async def run(kernel: FreshKernel, cells: Iterable[Cell], done: Pass) -> None:
        views = Views()
        for cell in cells:
            done.begun.add(cell.index)
            error = await kernel.run(cell)
            outputs = kernel.node.cells[cell.index].outputs
            done.widgets = kernel.widgets
            # A file has the last states of widgets. Later cells may update displays.
            shown = [] if options.saved else views.changed(outputs, done.widgets)
            done.outputs[cell.index] = [*outputs, *shown]
            step()
            known = notebook.shown_errors(cell)
            may_raise = known if options.saved else error and error.partition(":")[0] in known
            if error and not may_raise and done is first:
                done.failed = cell, error
                break

    try:
        async with fresh_kernel(notebook, options, folder) as kernel:
            await run(kernel, notebook.runnable, first)
            if options.rerun:
                passes.append(again := Pass(first.ledger))
                ran = [each for each in notebook.runnable if each.index in first.outputs]
                await run(kernel, reversed(ran), again)
            with suppress(Exception):  # a cell may have ended the kernel
                asked = kernel.ask(Seeds(tuple(cell.source for cell in notebook.runnable)))
                told = await asyncio.wait_for(asked, _PATIENCE)
                for cell, calls in zip(notebook.runnable, told["calls"], strict=True):
                    first.lacking[cell.index] = [*map(tuple, calls)]
    except UncheckableError as error:
        passes[-1].fault = str(error)
    return passes


class Runs(Struct, frozen=True):
    """The runs of a notebook's cells in one kernel.

    Attributes:
        runs: The runs, oldest first.
        find_states: Returns a lookup of their states. Each call returns a new lookup, because a
            lookup has a limited budget.
    """

    runs: Sequence[Run]
    find_states: Callable[[], HistoryLookup]

    def of(self, cell: str) -> list[Run]:
        """Return the runs of a cell, the oldest first."""
        return [run for run in self.runs if run.cell == cell]

    def before(self, run: Run, since: Run | None = None) -> Sequence[Run]:
        """Return the runs before another one, oldest first.

        Args:
            run: The run.
            since: The first run to return; None for the kernel's first.
        """
        idents = [each.id for each in self.runs]
        return self.runs[0 if since is None else idents.index(since.id) : idents.index(run.id)]

    def begins(self) -> dict[str, str]:
        """Return the state in which each source was first seen, by its name."""
        states: dict[str, str] = {}
        for run in reversed(self.runs):
            states |= {n: digest for n, digest in run.before.items() if n not in run.generators}
        return states


@contextmanager
def open_runs(path: Path, notebook: Notebook) -> Iterator[Runs]:
    """Open the runs in one kernel's ledger; none if it cannot be read.

    Args:
        path: The ledger's file.
        notebook: The notebook. Runs get the numbers in ``In[...]`` that its cells have after
            *Run All*.
    """
    counts = {cell.id: cell.count for cell in notebook.runnable}
    found = Runs((), lambda: Receipt("", (), {}))
    with ExitStack() as stack:
        with suppress(LedgerError):  # then only the outputs are known
            ledger = stack.enter_context(Ledger.open(path, read_only=True))
            newest = [run for run in ledger.runs() if run.cell in counts]
            runs = [replace(run, execution_count=counts[run.cell]) for run in reversed(newest)]
            found = Runs(runs, lambda: LedgerStates(ledger))
        yield found
