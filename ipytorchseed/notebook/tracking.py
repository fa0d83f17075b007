"""Passes the shell's events to the session, and shows each notice once."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell

from ipytorchseed.errors import LedgerError
from ipytorchseed.notebook.errors import error_line, raised, shown_traceback
from ipytorchseed.notebook.streams import OutputCapture
from ipytorchseed.render.text import visible
from ipytorchseed.rng.seeds import own_rank

if TYPE_CHECKING:
    from ipytorchseed.ledger.records import Run
    from ipytorchseed.ledger.store import Ledger
    from ipytorchseed.notebook.config import IPyTorchSeed
    from ipytorchseed.notebook.runs import Runs
    from ipytorchseed.session.identity import Identity
    from ipytorchseed.session.outputs import OutputWatch
    from ipytorchseed.session.session import Session
    from ipytorchseed.session.variables import Pending

    # Records what a cell shows in its outputs, instead of showing it.
    Silence = Callable[[OutputWatch], AbstractContextManager[None]]


# The errors of interrupted cells; the second is for cells that await.
_INTERRUPTS = (KeyboardInterrupt, asyncio.CancelledError)

_OVERLAP = "a cell that begins while another one runs, as in a subshell, is not recorded"
_STILL = "your cells still run"
_UNSEEN = (
    "a change inside it may pass unseen. More time: %config IPyTorchSeed.budget = 2; leave it out:"
    " %config IPyTorchSeed.ignore ="
)

# The time for inspecting values in experiments, in seconds: in effect no limit.
_UNLIMITED = 1e9

# Seconds between the last cell and the maintenance of the ledger.
_QUIET = 0.25

# Seconds between loading the extension and preparing for the first cell.
_IDLE = 0.1


# The cell identities of each shell, which stay the same when the extension is loaded again.
_known: WeakKeyDictionary[Any, Identity] = WeakKeyDictionary()


class Tracking:
    """The recording of a shell's runs.

    Args:
        shell: The running shell.
        options: The user's configuration.
        runs: The current runs.

    Attributes:
        capture: Listens to the outputs of the running cell.
    """

    def __init__(self, shell: InteractiveShell, options: IPyTorchSeed, runs: Runs) -> None:
        self._shell = shell
        self._runs = runs
        self._options = options
        self._session: Session | None = None
        self._told: set[str] = set()
        self._counter, self._ahead = 0, 1
        self._transformed = ("", "")
        self._shown: list[str] = []
        self._soon: asyncio.TimerHandle | None = None
        self._unrecorded: Pending | None = None
        self.capture = OutputCapture(shell, self._outputs)
        options.observe(self._choose)

    @property
    def session(self) -> Session:
        """The session; the first use opens it and its ledger."""
        if self._session is None:
            from ipytorchseed.session.session import Session

            chosen, hidden = self._options.chosen(), self._shell.user_ns_hidden
            self._session = Session(
                *(self._notebook(), self._open(chosen.ledger), self._transform),
                hidden=hidden,
                config=chosen,
                later=self._later,
                find_rank=own_rank,
                identity=_known.get(self._shell),
            )
            _known[self._shell] = self._session.identity
        return self._session

    def _open(self, folder: str) -> Ledger:
        """Open the ledger; if that fails, report it and keep runs in memory."""
        from ipytorchseed.ledger.store import Ledger

        ledger = Ledger.open_or_set_aside(folder or None)
        self._tell_news(ledger)
        return ledger

    def get_ready(self) -> None:
        """Import what the first cell needs, once the kernel is idle."""
        with suppress(ImportError):  # not ipykernel
            from tornado.ioloop import IOLoop

            IOLoop.current().call_later(_IDLE, self._get_ready)  # it may be started only later

    def _get_ready(self) -> None:
        if self._options.tracking:
            with suppress(Exception):  # the first cell will raise and report it
                import_module("ipytorchseed.session.session")
                import_module("ipytorchseed.rng.table").entry_points("ipytorchseed.sources")
                import_module("ipytorchseed.session.hearing").search()

    def stop(self) -> None:
        """Stop recording, and close the ledger."""
        self.capture.stop()
        self._options.unobserve(self._choose)
        if self._soon is not None:
            self._soon.cancel()
        if self._session is not None:
            self._session.close()
            watch = import_module("ipytorchseed.observe.watch").watch
            if watch is not None:
                watch.close()

    def stop_look(self) -> None:
        """End the current inspection of values soon, after an interrupt."""
        if self._session is not None:
            self._session.stop_look()

    def begin(
        self, info: ExecutionInfo, ident: str | None, prepare: Callable[[], object] | None = None
    ) -> None:
        """Inspect random states, settings and values before a cell runs.

        Args:
            info: IPython's description of the run.
            ident: The front end's id of the cell.
            prepare: Called before the cell, for example to seed.
        """
        if not self._options.tracking:
            if prepare is not None:
                prepare()
            return
        from ipytorchseed.session.identity import saved_ids

        session, source, count = self.session, str(info.raw_cell), None
        transformed = getattr(info, "transformed_cell", None)
        if transformed is not None:  # since IPython 9.0
            self._transformed = source, transformed
        cell = session.cell_of(ident, source, partial(saved_ids, session.notebook))
        if info.store_history:
            # In some versions of IPython, the shell's counter is already ahead. The result of each
            # run shows by how much, and the number of the first run is corrected when it ends.
            self._counter = int(self._shell.execution_count)
            count = self._counter - self._ahead
        session.begin_cell(cell, source, count, self._shell.user_ns, prepare)
        self._shown = shown_traceback(self._shell)
        self.capture.start()

    def end(self, result: ExecutionResult | None) -> Run | None:
        """Inspect states, settings and values after a cell ran, and record the run."""
        self.capture.stop()
        session = self._session
        if session is None:
            return None
        count = None if result is None else result.execution_count
        if session.pending and session.pending.execution_count is not None and count is not None:
            self._ahead = self._counter - count
        try:
            return self._close(result, count)
        except LedgerError as failure:
            self._tell_once(f"{failure}. Until this is fixed, runs are not recorded; {_STILL}")
            return None
        finally:
            self._tell_news(session.ledger)
            name, seconds = session.variables.too_large, f"{self._options.budget:g} s"
            if name:
                told = f"{name} is too large to inspect fully in {seconds}, so {_UNSEEN} [{name!r}]"
                self._tell_once(told, "size")

    def _close(self, result: ExecutionResult | None, count: int | None = None) -> Run | None:
        """Record the current run: how it ended, and the value of its last expression."""
        error, shown, status = raised(result), shown_traceback(self._shell), "ok"
        if result is None or isinstance(error, _INTERRUPTS):
            status = "interrupted"
        elif error is not None:
            status = "error"
        shown = [] if shown is self._shown else shown
        return self.session.end_cell(
            self._shell.user_ns,
            status=status,
            error=None if error is None else error_line(error, shown),
            result=None if result is None else result.result,
            execution_count=count,
        )

    def note_overlap(self) -> None:
        """Record that a cell begins in another thread during the current one."""
        if self._pending is not None:
            self._pending.overlapped = True
            self._tell_once(_OVERLAP)

    def suspend(self) -> Pending | None:
        """Suspend the recording of the current run, to record others inside it."""
        self.capture.stop()
        pending, self.session.pending = self.session.pending, None
        return pending

    def resume(self, pending: Pending | None) -> None:
        """Resume the recording of a suspended run."""
        self.session.pending = pending
        if pending is not None:
            self.capture.start()

    @contextmanager
    def isolated(self) -> Iterator[None]:
        """Record the runs in the block in a temporary ledger, without a time limit."""
        from ipytorchseed.ledger.store import Ledger
        from ipytorchseed.session.session import Session

        own, outer, hidden = self.session, self.suspend(), self._shell.user_ns_hidden
        config, ledger = own.config._replace(budget=_UNLIMITED), Ledger.in_memory()
        isolated = Session(
            own.notebook,
            ledger,
            self._transform,
            hidden=hidden,
            config=config,
            later=lambda _: None,
        )
        self._session, isolated.kernel = isolated, own.kernel
        try:
            yield
        finally:
            try:
                isolated.close()
            finally:
                self._session = own
                self.resume(outer)

    def record(
        self,
        run: Run,
        number: int | None,
        prepare: Callable[[], object],
        execute: Callable[[], ExecutionResult],
        silence: Silence | None,
    ) -> Run | None:
        """Run the cell of a run again, and record the new run.

        Args:
            run: The earlier run.
            number: The number in ``In[...]`` of the new run, or None.
            prepare: Called before the cell.
            execute: Runs the cell.
            silence: Records the cell's outputs without showing them; None to show them.

        Raises:
            LedgerError: The run cannot be recorded.
        """
        session = self.session
        with ExitStack() as undo:
            undo.callback(session.abandon)
            session.begin_cell(run.cell, run.source, number, self._shell.user_ns, prepare)
            self._shown = shown_traceback(self._shell)
            outputs = None if session.pending is None else session.pending.outputs
            listening = OutputCapture(self._shell, self._outputs)
            with listening if silence is None or outputs is None else silence(outputs):
                result = execute()
            undo.pop_all()
        return self._close(result)

    def note_seed(self, seed: int, how: str) -> None:
        """Record a seed in the log."""
        if self._options.tracking:
            try:
                self.session.log_seed(seed, how)
            except LedgerError as failure:  # the seed is applied anyway
                self._tell_once(f"{failure}. Until this is fixed, seeds are not logged; {_STILL}")

    def _later(self, maintain: Callable[[], object]) -> None:
        """Call a function when the kernel is idle, or now if no event loop runs."""
        if self._soon is not None:  # a cell has run meanwhile
            self._soon.cancel()
        try:
            self._soon = asyncio.get_running_loop().call_later(_QUIET, maintain)
        except RuntimeError:
            maintain()

    def _tell_news(self, ledger: Ledger) -> None:
        """Show the ledger's notices since the last call."""
        while ledger.notices:
            self._tell_once(ledger.notices.pop(0))

    def _tell_once(self, what: str, about: str = "") -> None:
        if (about or what) not in self._told:
            self._told.add(about or what)
            sys.stderr.write(visible(f"ipytorchseed: {what}") + "\n")

    def _transform(self, cell: str) -> str:
        """Turn a cell into Python, once: a user's transformer may have side effects."""
        raw, transformed = self._transformed
        return transformed if cell == raw else str(self._shell.transform_cell(cell))

    def _notebook(self) -> str:
        """Return the notebook's path from the front end, or else the working folder."""
        told = os.environ.get("JPY_SESSION_NAME") or self._shell.user_ns.get("__vsc_ipynb_file__")
        with suppress(OSError):  # the folder was removed
            return str(told or os.getcwd())  # noqa: PTH109 -- we store a string
        return os.environ.get("PWD", "")

    @property
    def _pending(self) -> Pending | None:
        return None if self._session is None else self._session.pending

    def _outputs(self) -> OutputWatch | None:
        pending = self._pending
        unrecorded = self._runs.overlaps or pending is self._unrecorded
        return None if unrecorded or pending is None else pending.outputs

    @contextmanager
    def unrecorded(self) -> Iterator[str]:
        """Do not record what is shown in the block; yield the running cell's text."""
        before, self._unrecorded = self._unrecorded, self._pending
        pending = self._unrecorded
        try:
            yield "" if pending is None else pending.source
        finally:
            self._unrecorded = before

    def _choose(self, change: Mapping[str, Any]) -> None:
        if self._session is not None:
            chosen = self._options.chosen()
            ledger = self._open(chosen.ledger) if change["name"] == "ledger" else None
            self._session.configure(chosen, ledger)
