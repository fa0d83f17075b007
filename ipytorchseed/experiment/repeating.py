"""Runs a cell again, on copies, from the state in which it began."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from types import ModuleType
from typing import Any

from msgspec import Struct

from ipytorchseed.determinism.interrupts import let_through
from ipytorchseed.experiment.outcome import Outcome
from ipytorchseed.experiment.sandbox import Sandbox, named
from ipytorchseed.fingerprint import Budget, Memo, fingerprint
from ipytorchseed.fingerprint.value import Fingerprint
from ipytorchseed.reads.dependencies import Dependencies
from ipytorchseed.reads.shell import prints_no_result
from ipytorchseed.rng.generators import find_generators
from ipytorchseed.session.noise import MOST_ERROR, without_noise
from ipytorchseed.session.sources import StateWatch
from ipytorchseed.trace.places import Lines


class Shown(Struct, frozen=True):
    """The outputs of a run.

    Attributes:
        stdout: What it printed, if anything.
        displays: What it displayed, in order.
        result: The value of its last expression, or None.
        error: The error that ended it, or None.
        shown: How the result was shown.
    """

    stdout: Fingerprint | None = None
    displays: tuple[Fingerprint, ...] = ()
    result: object = None
    error: BaseException | None = None
    shown: Fingerprint | None = None


Runner = Callable[[AbstractContextManager[object]], Shown]
"""Runs the cell's code once more, in the given context, which is around that code alone."""


class RepeatedCell:
    """A cell, and the state in which it began.

    Args:
        namespace: The user's.
        dependencies: What the cell reads and writes, by its code.
        lines: Finds the line of the cell.
        source: Its text.
        hidden: Names of the shell's own.
        progress: Told what is done now.

    Attributes:
        sandbox: What the cell found, to be put back before each further run.
    """

    def __init__(  # noqa: PLR0913 -- each by name
        self,
        namespace: MutableMapping[str, Any],
        dependencies: Dependencies,
        *,
        lines: Lines,
        source: str,
        hidden: frozenset[str] = frozenset(),
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.namespace = namespace
        self.dependencies = dependencies
        self.lines = lines
        self.source = source
        self.progress = progress
        self._hidden = hidden
        self.sandbox = sandbox_of(namespace, dependencies, hidden)

    def again(self, run: Runner, around: AbstractContextManager[object] | None = None) -> Outcome:
        """Run the cell once more from the same state, and return what it made."""
        self.sandbox.enter()
        return self.look(run(around or nullcontext()))

    def look(self, shown: Shown) -> Outcome:
        """Name all that a run made, as it stands now; an interrupt may end it."""
        return let_through(partial(self._look, shown), once=True)

    def _look(self, shown: Shown) -> Outcome:
        names = named(self.namespace)
        chosen = [name for name in names if self._is_compared(name)]
        states = dict(StateWatch().read().digests)
        visible = {name: names[name] for name in names if name not in self._hidden}
        states |= {found.name: found.digest for found in find_generators(visible)}
        memo = Memo()
        return Outcome(
            variables={name: _value(names[name], memo) for name in sorted(chosen)},
            result=None if shown.result is None else _value(shown.result, memo),
            stdout=None if prints_no_result(self.source) else shown.stdout,
            displays=shown.displays,
            sources=states,
            error=None if shown.error is None else one_line(shown.error),
            shown=shown.shown,
        )

    def line(self, number: int) -> str:
        """Return the text of a line of the cell."""
        lines = self.source.splitlines()
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def _is_compared(self, name: str) -> bool:
        if not is_users(name, self._hidden) or name in self.dependencies.timed:
            return False
        if type(self.namespace[name]) is ModuleType:
            return False
        return self.sandbox.is_new(name)


def reachable(
    namespace: Mapping[str, Any], dependencies: Dependencies, hidden: frozenset[str]
) -> list[str]:
    """List the names whose values a cell may reach; all of the user's, where that is not known.

    What it only sets is left out: the value of before is not touched.
    """
    if not dependencies.complete:
        return [name for name in named(namespace) if is_users(name, hidden)]
    return [name for (module, name) in dependencies.names.values() if not module]


def is_users(name: str, hidden: frozenset[str]) -> bool:
    """Tell whether a name of the namespace is the user's, rather than the shell's."""
    return not name.startswith("_") and name not in hidden and name not in ("In", "Out")


def sandbox_of(
    namespace: MutableMapping[str, Any], dependencies: Dependencies, hidden: frozenset[str]
) -> Sandbox:
    """Return the sandbox of a cell: the state that it begins in, as far as it may reach it."""
    places = [place for place in dependencies.names.values() if place[0]]
    return Sandbox(namespace, reachable(namespace, dependencies, hidden), places)


def _value(content: object, memo: Memo) -> Fingerprint:
    return fingerprint(content, memo=memo, budget=Budget(float("inf")))


def one_line(error: BaseException) -> str:
    """Write an error as its class and the first line of its message."""
    try:
        said = str(error).partition("\n")[0][:MOST_ERROR]
    except Exception:  # noqa: BLE001 -- the user's exception class may fail at it
        said = ""
    return without_noise(f"{type(error).__name__}: {said}" if said else type(error).__name__)


# --------------------------------------------------------------------------------------------------
# A function that is called as a cell calls one: by name, where it looks names up

NAME = "_function_that_is_called"
"""The name, which goes with the last call."""

SHELLS = frozenset({"exit", "get_ipython", "open", "quit"})
"""What IPython puts into a notebook's namespace; a copy of it would be one of the whole shell."""


@contextmanager
def called_by_name(function: Callable[..., object]) -> Iterator[dict[str, Any]]:
    """Have a function stand among its global names as ``NAME``; of a closure, copies stand there.

    Yields:
        These names; those of ``__main__`` for what has none of its own.
    """
    names: dict[str, Any] = getattr(function, "__globals__", None) or vars(sys.modules["__main__"])
    names[NAME] = function
    try:
        yield names
    finally:
        del names[NAME]
