"""Runs a cell again on copies, from the same state, and compares the outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from contextlib import AbstractContextManager, nullcontext, suppress
from types import ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.determinism.interrupts import let_through
from ipytorchseed.experiment.engine import Engine
from ipytorchseed.fingerprint import Budget, Fingerprint, Memo, fingerprint
from ipytorchseed.ledger.records import Outputs
from ipytorchseed.reads.dependencies import Dependencies
from ipytorchseed.reads.shell import prints_no_result
from ipytorchseed.session.noise import MOST_ERROR, without_noise
from ipytorchseed.session.sources import StateWatch
from ipytorchseed.trace.places import Lines
from ipytorchseed.why.changes import find_output_changes, results_differ
from ipytorchseed.why.explanation import Change
from ipytorchseed.why.value_changes import how_far


class Outcome(Struct, frozen=True):
    """The outcome of a run: its results, and the states of the sources after it.

    Attributes:
        variables: The variables that the run created or may have changed, by name.
        outputs: The outputs of the run.
        sources: The digest of the final state of each source and generator, by name.
    """

    variables: Mapping[str, Fingerprint] = {}
    outputs: Outputs = Outputs()
    sources: Mapping[str, str] = {}

    @property
    def empty(self) -> bool:
        """Whether there is nothing to compare."""
        return not self.variables and replace(self.outputs, shown=None) == Outputs()


def find_differences(before: Outcome, after: Outcome) -> tuple[Change, ...]:
    """Compare the outcomes of two runs.

    Args:
        before: The outcome of one run.
        after: The outcome of another run.
    """
    found = []
    for name in dict.fromkeys([*before.variables, *after.variables]):
        one, other = before.variables.get(name), after.variables.get(name)
        if results_differ(one, other):
            found.append(Change("variable", name, how_far(one, other)))
    found += find_output_changes(before.outputs, after.outputs)
    for name in dict.fromkeys([*before.sources, *after.sources]):
        if before.sources.get(name) != after.sources.get(name):
            found.append(Change("source", name, "was left in a different state"))
    return tuple(found)


class Shown(Struct, frozen=True):
    """The outputs of a run.

    Attributes:
        outputs: The record of the outputs, without the result and the error.
        result: The value of the cell's last expression, or None.
        error: The error that ended the run, or None.
    """

    outputs: Outputs = Outputs()
    result: object = None
    error: BaseException | None = None


# Runs the cell's code once more inside the given context.
Runner = Callable[[AbstractContextManager[object]], Shown]


class RepeatedCell(Struct, eq=False, dict=True):
    """A cell, and the state in which it started.

    Attributes:
        namespace: The user's namespace.
        dependencies: The names that the cell's code reads and writes.
        run: Runs the cell's code.
        lines: Finds the line of the cell that is being executed.
        source: The text of the cell.
        hidden: Names in the namespace that belong to the shell.
        progress: Called with a description of each step.
        engine: Restores the cell's initial state before each further run.
    """

    namespace: MutableMapping[str, Any]
    dependencies: Dependencies
    run: Runner
    lines: Lines
    source: str
    hidden: frozenset[str] = frozenset()
    progress: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        self.engine = Engine.of_code(self.namespace, self.dependencies, self.hidden)
        self.engine.freeze()

    def again(self, around: AbstractContextManager[object] | None = None) -> Outcome:
        """Run the cell once more from the same state, and return its outcome."""
        self.engine.begin()
        return self.look(self.run(around or nullcontext()))

    def look(self, shown: Shown) -> Outcome:
        """Return the outcome of a run. An interrupt raises KeyboardInterrupt."""
        return let_through(lambda: self._look(shown), once=True)

    def _look(self, shown: Shown) -> Outcome:
        names, memo = self.engine.users(), Memo()
        chosen = sorted(name for name in names if self._is_compared(name))
        states = dict(StateWatch().read().digests)
        states |= {found.name: found.digest for found in self.engine.generators()}
        variables = {name: _value(names[name], memo) for name in chosen}
        outputs = replace(
            shown.outputs,
            result=None if shown.result is None else _value(shown.result, memo),
            stdout=None if prints_no_result(self.source) else shown.outputs.stdout,
            error=None if shown.error is None else one_line(shown.error),
        )
        return Outcome(variables, outputs, states)

    def line(self, number: int) -> str:
        """Return the text of a line of the cell."""
        lines = self.source.splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def _is_compared(self, name: str) -> bool:
        is_module = type(self.namespace[name]) is ModuleType
        return not is_module and name not in self.dependencies.timed and self.engine.is_new(name)


def _value(content: object, memo: Memo) -> Fingerprint:
    return fingerprint(content, memo=memo, budget=Budget(float("inf")))


def one_line(error: BaseException) -> str:
    """Return the class of an error and the first line of its message."""
    said = ""
    with suppress(Exception):  # the user's exception class may raise in `__str__`
        said = str(error).partition("\n")[0][:MOST_ERROR]
    return without_noise(f"{type(error).__name__}: {said}" if said else type(error).__name__)
