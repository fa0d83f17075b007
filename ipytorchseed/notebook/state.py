"""The extension's state in a shell, shared by magics, callbacks and views."""

from __future__ import annotations

import os
import threading
import tokenize
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

from ipytorchseed.errors import LookupFailure
from ipytorchseed.notebook.config import IPyTorchSeed
from ipytorchseed.notebook.errors import Guard, raised
from ipytorchseed.notebook.interrupts import Interrupts
from ipytorchseed.notebook.runs import Runs
from ipytorchseed.notebook.tracking import Tracking
from ipytorchseed.rng.seeds import check_seed, derive_seed


def text_of(source: str) -> str:
    """Return a cell's text without comments, blank lines and cell magics."""
    lines = source.splitlines()
    with suppress(tokenize.TokenError, SyntaxError):  # not Python: keep comments
        for token in tokenize.generate_tokens(StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                lines[row - 1] = lines[row - 1][:column]
    kept = [line.rstrip() for line in lines if line.strip()]
    while kept and kept[0].startswith("%%"):
        del kept[0]
    return "\n".join(kept)


class Seeding:
    """The rule for seeding in a shell.

    Attributes:
        each: The common seed, from which each cell's seed is derived; None for no rule.
        same: Whether every cell gets the common seed itself, not a derived one.
    """

    def __init__(self) -> None:
        self.each: int | None = None
        self.same = False
        self._alike: dict[str, dict[str | None, int]] = {}

    @property
    def rule(self) -> str:
        """The rule in words; empty if there is none."""
        if self.each is None:
            return ""
        if self.same:
            return f"Before every cell, every source is seeded with {self.each}"
        own = f"its own seed, derived from {self.each} and the cell's text"
        return f"Each cell now starts from {own}"

    def apply(self, seed: int) -> None:
        """Seed every source now, and torch at its import if it is not imported yet.

        Raises:
            SeedError: ``seed`` is not a valid seed; no source was changed.
        """
        from ipytorchseed.rng.table import seed_all

        seed_all(check_seed(seed), wait=True)

    def for_cell(self, ident: str | None, source: str) -> int | None:
        """Return the seed that the rule gives a cell, if there is a rule.

        Args:
            ident: The front end's id of the cell, or None. Cells with equal text but different ids
                get different seeds, by the order of their first runs.
            source: The cell's text.
        """
        if self.each is None or self.same:
            return self.each
        text = text_of(source)
        alike = self._alike.setdefault(text, {})
        place = alike.setdefault(ident, len(alike))
        return derive_seed(self.each, f"{text}\n# {place}" if place else text)


if TYPE_CHECKING:
    from ipytorchseed.ledger.records import Run, Trace
    from ipytorchseed.rng.generators import FoundGenerator
    from ipytorchseed.session.session import Session

Part = TypeVar("Part")


class Viewer(Protocol):
    """A view that shows runs as they happen."""

    def shown(self) -> object:
        """Return what to display."""

    def ran(self, run: Run | None) -> None:
        """Show a run that has ended; None if it was not recorded."""

    def close(self) -> None:
        """Show that the extension was unloaded."""


# Creates the live viewer. The package passes it in, because this folder does not import widgets.
Opener = Callable[["State"], Viewer] | None


# Creates a button that calls a function when pressed; also passed in.
MakeButton = Callable[[str, Callable[[], object]], Any] | None


class State:
    """Everything that the extension keeps for one shell.

    Args:
        shell: The running shell.
        opener: Creates the viewer on first use; None if there is no viewer.
        make_button: Creates buttons; None if there are no buttons.

    Attributes:
        environ: The environment at load.
        stop_check: Stops the fresh run of ``%check``, if there is one.
        interrupts: Keeps Ctrl-C from being lost while we inspect values.
        guard: Keeps errors of our callbacks away from the user's cells.
        runs: The current runs.
        seeding: The seeding rule.
        options: The user's configuration.
        tracking: The recording of runs.
        viewer: Shows runs as they happen; None until first use.
        lock: Held while a cell begins, and by code that must not run during a cell.
        threads: The threads that run a cell: the kernel's own, and those of subshells.
        commanded: Whether a magic runs for a button or an agent, not for a cell.
        rerunning: Whether a cell's code is run again; the extension is then inactive.
        replaying: Whether cells are run again and recorded.
        asked: The earlier run of the last ``%why``, which ``%replay`` without a number uses.
        before_record: Called after each cell, before its run is recorded.
        after_record: Called after each cell, with its result and the record of its run, or None.
        at_unload: Called at unload. Each returns the words for what it ended, or "".
    """

    def __init__(self, shell: InteractiveShell, opener: Opener, make_button: MakeButton) -> None:
        self.shell = shell
        self.environ = dict(os.environ)
        self.make_button = make_button
        self.stop_check: Callable[[], object] = lambda: None
        self.runs = Runs()
        self.seeding = Seeding()
        self.options = IPyTorchSeed(parent=shell)
        self.tracking = Tracking(shell, self.options, self.runs)
        self.interrupts = Interrupts(shell, self.tracking.stop_look)
        self.guard = Guard(self.interrupts.note)
        self.viewer: Viewer | None = None
        self.lock = threading.RLock()
        self.threads: set[int] = set()
        self.commanded = self.rerunning = self.replaying = False
        self.asked: Run | None = None
        self.before_record: list[Callable[[], object]] = []
        self.after_record: list[Callable[[ExecutionResult | None, Run | None], object]] = []
        self.at_unload: list[Callable[[], str]] = []
        self._opener = opener
        self._parts: dict[Callable[[State], Any], Any] = {}
        self._observed: list[Trace] = []

    def part(self, kind: Callable[[State], Part]) -> Part:
        """Return the shell's object of a class, created on first use."""
        if kind not in self._parts:
            self._parts[kind] = kind(self)
        made: Part = self._parts[kind]
        return made

    @property
    def session(self) -> Session:
        """The session of the recorded runs.

        Raises:
            LookupFailure: Tracking is off.
        """
        if not self.options.tracking:
            from ipytorchseed.notebook.lookup import TRACKING_OFF  # too much to import at load

            raise LookupFailure(TRACKING_OFF)
        return self.tracking.session

    @property
    def allows_input(self) -> bool | None:
        """Whether the front end can answer ``input``; None without a front end.

        If it cannot, a program such as nbclient runs the cells.
        """
        message = getattr(self.shell, "parent_header", None) or {}
        answer: bool | None = (message.get("content") or {}).get("allow_stdin")
        return answer

    def note(self, trace: Trace) -> None:
        """Store what was observed about the current run, for its record."""
        self._observed.append(trace)

    def record_observed(self, run: Run | None) -> None:
        """Add what was observed to the record of its run."""
        observed, self._observed = self._observed, []
        if run is not None and run.id is not None:
            for trace in observed:
                self.tracking.session.ledger.add_trace(run.id, trace)

    def generators(self) -> list[FoundGenerator]:
        """Find the generators that the user's namespace holds."""
        from ipytorchseed.rng.generators import find_generators

        names, hidden = {**self.shell.user_ns}, self.shell.user_ns_hidden
        users = [name for name in names if type(name) is str and name not in hidden]
        return find_generators({name: names[name] for name in users})

    def states(self) -> dict[str, bytes]:
        """Return the full state of every source and of every generator of the namespace."""
        from ipytorchseed.rng.snapshot import snapshot

        return {**snapshot().states, **{each.name: each.read() for each in self.generators()}}

    def apply(self, seed: int, how: str) -> None:
        """Seed every source, and record it in the log.

        Raises:
            SeedError: ``seed`` is not a valid seed; no source was changed.
        """
        self.seeding.apply(seed)
        self.note_seed(seed, how)

    def note_seed(self, seed: int, how: str) -> None:
        """Record a seed in the log, unless a check is rerunning a cell's code."""
        if not self.rerunning:
            self.tracking.note_seed(seed, how)

    def call_magic(self, line: str) -> tuple[bool, str]:
        """Run one of our magics between two cells; its run is recorded without a number.

        Returns:
            Whether it succeeded, and its last display, or else its printed text or its error.
        """
        from IPython.utils.capture import capture_output

        with self.lock:  # cells of other threads wait for us
            self.commanded = True
            try:
                with capture_output() as said:
                    result = self.shell.run_cell(line, store_history=False)
            finally:
                self.commanded = False
            error = raised(result)
            if error is not None:
                return False, str(error)
            shown = [str(each.data["text/plain"]) for each in said.outputs if each.data]
            return True, shown[-1] if shown else said.stdout.strip()

    def open_viewer(self) -> Viewer | None:
        """Return the live viewer, opened on first use; None outside kernels."""
        if self.viewer is None and self._opener is not None and hasattr(self.shell, "kernel"):
            self.viewer = self._opener(self)
        return self.viewer
