"""``--check``: a cell is run again from the same state, and what differs is traced to its origin.

The cell's own run is an ordinary one, on the user's own objects. Every further run is on copies,
which are put in their place for its time; nothing of it remains.
"""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.determinism.scope import deterministic
from ipytorchseed.fingerprint import Budget, Memo, fingerprint
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.session.ends import Difference, Ends, find_differences
from ipytorchseed.session.noise import MOST_ERROR, without_noise
from ipytorchseed.session.sources import StateWatch
from ipytorchseed.session.tracing import Tracing
from ipytorchseed.session.verdict import DIFFERS, ERROR, REPEATS, Checked
from ipytorchseed.session.world import World
from ipytorchseed.why.changes import not_compared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, MutableMapping
    from contextlib import AbstractContextManager

    from ipytorchseed.fingerprint.value import Fingerprint
    from ipytorchseed.reads.dependencies import Dependencies
    from ipytorchseed.trace.places import Lines


class Shown(Struct, frozen=True):
    """What a run showed.

    Attributes:
        stdout: What it printed, if anything.
        displays: What it displayed, in order.
        result: The value of its last expression, or None.
        error: The error that ended it, or None.
    """

    stdout: Fingerprint | None = None
    displays: tuple[Fingerprint, ...] = ()
    result: object = None
    error: BaseException | None = None


class Runner(Protocol):
    """Runs the cell's code once more."""

    def __call__(self, around: AbstractContextManager[object]) -> Shown:
        """Run it, with ``around`` entered around the code alone; nothing of it is shown."""


class Check:
    """A check of one cell under way; it begins where the cell does.

    Args:
        namespace: The user's.
        reached: What the cell reads and writes, by its code.
        runs: How often to run it, its own run included; at least 2.
        lines: Finds the line of the cell.
        source: The cell's text.
        hidden: Names of the shell's own.
        progress: Told what is done now.
    """

    def __init__(  # noqa: PLR0913 -- each by name
        self,
        namespace: MutableMapping[str, Any],
        reached: Dependencies,
        *,
        runs: int,
        lines: Lines,
        source: str,
        hidden: frozenset[str] = frozenset(),
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.namespace = namespace
        self.reached = reached
        self.runs = runs
        self.lines = lines
        self.source = source
        self.progress = progress
        self._hidden = hidden
        places = [place for place in reached.names.values() if place[0]]
        self.world = World(namespace, self._reachable(), places)
        self._begun = time.perf_counter()
        self._modules = len(sys.modules)
        self._seconds = 0.0
        self._first = Ends()
        self._imported = False

    def first(self, shown: Shown) -> None:
        """Note what the cell's own run made; to be called when it has ended."""
        self._seconds = time.perf_counter() - self._begun
        self._imported = len(sys.modules) > self._modules
        self.world.leave()
        self._first = self.look(shown)

    def finish(self, run: Runner) -> Checked:
        """Run the cell again, compare, and trace what differs.

        Args:
            run: Runs the cell.

        Raises:
            KeyboardInterrupt: Everything is put back.
        """
        if self._first.empty:
            return Checked(self.runs, seconds=self._seconds)
        compared = len(self._first.variables) + len(self._first.displays) + len(self._first.sources)
        compared += sum(each is not None for each in (self._first.result, self._first.stdout))
        notes = self._notes()
        try:
            differences: tuple[Difference, ...] = ()
            ends = self._first
            if self.world.brought:
                notes += self._begin_anew(run)
            for number in range(2, self.runs + 1):
                self.progress(f"run {number} of {self.runs}")
                ends = self.again(run)
                differences = find_differences(self._first, ends)
                if differences:
                    break
            if not differences:
                unseen = not_compared(self._first, ends)
                notes += [f"not looked at whole: {', '.join(unseen)}"] if unseen else []
                return Checked(
                    self.runs, compared=compared, seconds=self._seconds, notes=tuple(notes)
                )
            found = Tracing(self, run).trace(ends)
            notes += found.notes
            if found.first_only:
                notes.append(self._why_only_first())
            with_flags, said = self._try_flags(run)
            return Checked(
                self.runs,
                differences,
                compared,
                culprit=found.culprit,
                entry=found.entry,
                suspects=tuple(found.suspects),
                with_flags=with_flags,
                flags_said=said,
                operations=found.operations,
                seconds=self._seconds,
                first_only=found.first_only,
                unproven=tuple(found.unproven),
                notes=tuple(notes),
            )
        finally:
            with held_interrupts():
                self.world.put_back()

    def again(self, run: Runner, around: AbstractContextManager[object] | None = None) -> Ends:
        """Run the cell once more from the same state, and return what it made."""
        self.world.enter()
        return self.look(run(around or _nothing()))

    def look(self, shown: Shown) -> Ends:
        """Name all that a run made, as it stands now."""
        names = self._names()
        chosen = [name for name in names if self._is_compared(name)]
        states = dict(StateWatch().read().digests)
        visible = {name: names[name] for name in names if name not in self._hidden}
        states |= {found.name: found.digest for found in find_generators(visible)}
        memo = Memo()
        return Ends(
            variables={name: _value(names[name], memo) for name in sorted(chosen)},
            result=None if shown.result is None else _value(shown.result, memo),
            stdout=shown.stdout,
            displays=shown.displays,
            sources=states,
            error=None if shown.error is None else _one_line(shown.error),
        )

    def _begin_anew(self, run: Runner) -> list[str]:
        """Compare with a second run, where the first one brought the sources that it drew from."""
        self.progress("the first run once more")
        ends = self.again(run)
        if not find_differences(self._first, ends):
            return []
        self._first = ends
        names = ", ".join(self.world.brought)
        return [f"{names}: imported by the first run, so it is left out of what is compared"]

    def line(self, number: int) -> str:
        """Return the text of a line of the cell."""
        lines = self.source.splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def _names(self) -> dict[str, Any]:
        return {name: value for name, value in list(self.namespace.items()) if type(name) is str}

    def _reachable(self) -> list[str]:
        """List the names whose values the cell may reach."""
        if not self.reached.complete:
            return [name for name in self._names() if self._is_users(name)]
        names = [name for (module, name) in self.reached.names.values() if not module]
        return [*names, *(name for name in self.reached.writes if name in self.namespace)]

    def _is_users(self, name: str) -> bool:
        return not name.startswith("_") and name not in self._hidden and name not in ("In", "Out")

    def _is_compared(self, name: str) -> bool:
        if not self._is_users(name) or name in self.reached.timed:
            return False
        if type(self.namespace[name]) is ModuleType:
            return False
        return self.world.is_new(name)

    def _notes(self) -> list[str]:
        notes = [
            f"{path} could not be copied ({why}): what the runs change in it stays, and what they"
            " make of it may differ for that alone"
            for path, why in [*self.world.shared.items()][:3]
        ]
        if self.world.cut:
            names = ", ".join(self.world.cut[:3])
            notes.append(
                f"{names}: made by an earlier cell, whose autograd graph cannot be copied: in the"
                " runs that are compared, no gradient flows back into it"
            )
        if self.reached.timed:
            names = ", ".join(sorted(self.reached.timed))
            notes.append(f"times and addresses are not compared: {names}")
        return notes

    def _why_only_first(self) -> str:
        if self._imported:
            return "only the first run differs: it imported modules, which the others found loaded"
        if self.world.shared or self.world.cut:
            return "only the first run differs: the others ran on copies, which are not complete"
        return (
            "only the first run differs: the others ran on copies, and agree. Something that it"
            " found at its first use, such as a cache, is not put back"
        )

    def _try_flags(self, run: Runner) -> tuple[str, str]:
        """Run the cell twice under deterministic flags; say what comes of it."""
        if "torch" not in sys.modules:
            return DIFFERS, ""
        ends = []
        for number in (1, 2):
            self.progress(f"with deterministic algorithms, run {number} of 2")
            ends.append(self.again(run, deterministic()))
            if ends[-1].error is not None:
                return ERROR, ends[-1].error
        return (DIFFERS, "") if find_differences(*ends) else (REPEATS, "")


def _value(content: object, memo: Memo) -> Fingerprint:
    return fingerprint(content, memo=memo, budget=Budget(float("inf")))


def _one_line(error: BaseException) -> str:
    try:
        said = str(error).partition("\n")[0][:MOST_ERROR]
    except Exception:  # noqa: BLE001 -- the user's exception class may fail at it
        said = ""
    return without_noise(f"{type(error).__name__}: {said}")


@contextmanager
def _nothing() -> Iterator[None]:
    yield
