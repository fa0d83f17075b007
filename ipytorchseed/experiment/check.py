"""``--check``: runs a cell again from the same state, and traces a difference.

The first run is the cell's own: it uses the user's objects. In further runs, copies temporarily
replace these objects. Afterwards, the copies are discarded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from msgspec.structs import asdict

from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.determinism.scope import deterministic
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.experiment.repeating import Outcome, RepeatedCell, Shown, find_differences
from ipytorchseed.experiment.tracing import trace_difference
from ipytorchseed.experiment.verdict import DIFFERS, ERROR, REPEATS, Checked
from ipytorchseed.fingerprint.value import same
from ipytorchseed.why.changes import not_compared
from ipytorchseed.why.explanation import Change

# The maximum number of values that a note names.
_NAMED = 3

_ONLY_FIRST = (
    "only the first run differs; the others, on copies, agree. The first may have left a side"
    " effect, such as an import or a filled cache, which is not undone between runs"
)


class Check:
    """A check of one cell in progress. Create it before the cell's own run.

    Args:
        cell: The cell, and the state in which it starts.
        runs: The number of runs, including the cell's own; at least 2.

    Attributes:
        stays: The names of what could not be restored, once ``finish`` has ended.
    """

    def __init__(self, cell: RepeatedCell, runs: int) -> None:
        self._cell = cell
        self._runs = runs
        self._effects: Sequence[str] = ()
        self._first = Outcome()
        self.stays: list[str] = []

    def first(self, shown: Shown, effects: Sequence[str] = ()) -> None:
        """Record the outcome of the cell's own run. Call it after that run.

        Args:
            shown: The outputs of the run.
            effects: Its effects outside the kernel, each as a clause.
        """
        self._effects = effects
        self._cell.engine.keep()
        self._first = self._cell.look(shown)

    def finish(self) -> Checked:
        """Run the cell again, compare the outcomes, and trace a difference.

        Raises:
            KeyboardInterrupt: The user interrupted the check. Everything is restored.
        """
        with held_interrupts():
            try:
                checked = self._finish()
            finally:
                self.stays = self._cell.engine.leave()
        if self.stays:
            checked.notes += (f"after the check, {say_restored('everything is', self.stays)}",)
        return checked

    def _finish(self) -> Checked:
        if self._first.empty:
            return Checked(self._runs, notes=tuple(self._notes()))
        first, outputs = self._first, self._first.outputs
        compared = len(first.variables) + len(outputs.displays) + len(first.sources)
        compared += sum(each is not None for each in (outputs.result, outputs.stdout))
        notes = self._notes()
        differences: tuple[Change, ...] = ()
        outcome = self._first
        if self._cell.engine.brought:
            notes += self._begin_again()
        for number in range(2, self._runs + 1):
            self._cell.progress(f"run {number} of {self._runs}")
            outcome = self._cell.again()
            differences = find_differences(self._first, outcome)
            if differences:
                break
        if not differences:
            notes += self._unseen(outcome)
            return Checked(self._runs, compared=compared, notes=tuple(notes))
        found = trace_difference(self._cell, outcome)
        only_first = [_ONLY_FIRST] if found.first_only else []
        found.notes = (*notes, *found.notes, *only_first)
        flags = self._try_flags()
        return Checked(self._runs, differences, compared, *flags, **asdict(found))

    def _begin_again(self) -> list[str]:
        """Run the cell again to get a first outcome that does not depend on imports.

        The first run imported sources and drew from them, so further runs start in a different
        state.

        Returns:
            A note that the first run is not compared; empty if the second run equals it.
        """
        self._cell.progress("the first run once more")
        outcome = self._cell.again()
        if not find_differences(self._first, outcome):
            return []
        self._first = outcome
        names = ", ".join(self._cell.engine.brought)
        return [f"{names}: imported by the first run, so it is not compared"]

    def _notes(self) -> list[str]:
        notes = [
            f"{path} cannot be copied ({why}): changes to it stay, and may make the runs differ"
            for path, why in [*self._cell.engine.shared.items()][:_NAMED]
        ]
        if self._cell.engine.cut:
            names = ", ".join(self._cell.engine.cut[:_NAMED])
            notes.append(
                f"{names}: the autograd graph of an earlier cell cannot be copied, so in the"
                " compared runs no gradient flows back into it"
            )
        if self._cell.dependencies.timed:
            names = ", ".join(sorted(self._cell.dependencies.timed))
            notes.append(f"not compared: {names} (times or memory addresses)")
        return [*notes, *self._effects]

    def _unseen(self, outcome: Outcome) -> list[str]:
        """Return a note that names what could not be compared, if anything."""
        made, first = outcome.variables, self._first.variables
        unknown = [name for name in made if same(first[name], made[name]) is None]
        unseen = [*unknown[:_NAMED], *not_compared(self._first.outputs, outcome.outputs)]
        return [f"not compared in full: {', '.join(unseen)}"] if unseen else []

    def _try_flags(self) -> tuple[str, str]:
        """Run the cell twice under deterministic flags; return verdict and error message."""
        if "torch" not in sys.modules:
            return DIFFERS, ""
        outcomes = []
        for number in (1, 2):
            self._cell.progress(f"with deterministic algorithms, run {number} of 2")
            outcomes.append(self._cell.again(deterministic()))
            if outcomes[-1].outputs.error is not None:
                return ERROR, outcomes[-1].outputs.error
        return (DIFFERS, "") if find_differences(*outcomes) else (REPEATS, "")
