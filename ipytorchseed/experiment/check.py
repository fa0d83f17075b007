"""``--check``: runs a cell again from the same state, and traces a difference.

The first run is the cell's own: it uses the user's objects. In further runs, copies temporarily
replace these objects. Afterwards, the copies are discarded.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.determinism.scope import deterministic
from ipytorchseed.experiment.process import say_restored
from ipytorchseed.experiment.repeating import Outcome, RepeatedCell, Shown, find_differences
from ipytorchseed.experiment.tracing import trace_difference
from ipytorchseed.experiment.verdict import DIFFERS, ERROR, REPEATS, Checked
from ipytorchseed.fingerprint.value import same
from ipytorchseed.why.changes import not_compared

# The maximum number of values that a note names.
_NAMED = 3

_SHARED = "changes to it stay, and may make the runs differ"
_CUT = (
    "the autograd graph of an earlier cell cannot be copied, so in the compared runs no gradient"
    " flows back into it"
)
_ONLY_FIRST = (
    "only the first run differs; the others, on copies of the variables, agree. The first may have"
    " left a side effect, such as an import or a filled cache, which is not undone between runs"
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
        checked, outcome = Checked(self._runs, notes=tuple(self._notes())), self._first
        if outcome.empty:
            return checked
        outputs = outcome.outputs
        checked.compared = len(outcome.variables) + len(outputs.displays) + len(outcome.sources)
        checked.compared += sum(each is not None for each in (outputs.result, outputs.stdout))
        for number in range(2, self._runs + 1):
            self._cell.progress(f"run {number} of {self._runs}")
            outcome = self._cell.again()
            checked.differences = find_differences(self._first, outcome)
            if checked.differences:
                trace_difference(self._cell, outcome, checked)
                checked.notes += (_ONLY_FIRST,) if checked.first_only else ()
                checked.with_flags, checked.flags_said = self._try_flags()
                return checked
        checked.notes += self._unseen(outcome)
        return checked

    def _notes(self) -> list[str]:
        engine, timed = self._cell.engine, sorted(self._cell.dependencies.timed)
        shared, cut = [*engine.shared.items()][:_NAMED], engine.cut[:_NAMED]
        notes = [f"{path} cannot be copied ({why}): {_SHARED}" for path, why in shared]
        notes += [f"{', '.join(cut)}: {_CUT}"] if cut else []
        notes += [f"not compared: {', '.join(timed)} (times or memory addresses)"] if timed else []
        return [*notes, *self._effects]

    def _unseen(self, outcome: Outcome) -> tuple[str, ...]:
        """Return a note that names what could not be compared, if anything."""
        made, first = outcome.variables, self._first.variables
        unknown = [name for name in made if same(first[name], made[name]) is None]
        unseen = [*unknown[:_NAMED], *not_compared(self._first.outputs, outcome.outputs)]
        return (f"not compared in full: {', '.join(unseen)}",) if unseen else ()

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
