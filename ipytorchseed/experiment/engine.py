"""The engine for running cells again on copies, and restoring the originals."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from msgspec import Struct

from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.experiment.captured import CapturedState
from ipytorchseed.experiment.process import Process
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.dependencies import Dependencies
from ipytorchseed.reads.patches import Place, place_of, put_at
from ipytorchseed.rng.generators import FoundGenerator, find_generators


class Engine(Struct, eq=False, dict=True):
    """A replacement of the user's objects by copies while cells run again.

    ``begin`` binds names to copies of the values that the cells may reach. ``captured`` returns the
    values that the cells made. ``leave`` restores the originals and the process, and verifies this.

    Attributes:
        namespace: The user's namespace.
        names: The names whose values the cells may reach.
        places: Attributes of modules that the cells may reach, by module and name.
        hidden: Names in the namespace that belong to the shell.
        limit: The maximum number of bytes of tensors and arrays in one copy; None for no limit.
        original: The original values, by name.
        found: The values that ``begin`` copies.
        copied: The names whose values were copied.
        shared: The reasons why objects could not be copied, by access path.
        cut: Access paths of tensors that were last copied without their autograd graph.
        moved: Names that the cells changed, known after ``settle``.
    """

    namespace: MutableMapping[str, Any]
    names: Iterable[str]
    places: Iterable[Place] = ()
    hidden: frozenset[str] = frozenset()
    limit: int | None = None

    def __post_init__(self) -> None:
        self.original = named(self.namespace)
        self.copied: set[str] = set()
        self.shared: dict[str, str] = {}
        self.cut: list[str] = []
        self.moved: set[str] | None = None
        self.places = [*self.places]
        self.found = CapturedState.find(self.namespace, self.names, self.places)
        self._process = Process.now()
        self._keep(self._process)

    @classmethod
    def of_code(
        cls, namespace: MutableMapping[str, Any], reached: Dependencies, hidden: frozenset[str]
    ) -> Engine:
        """Return an engine for code.

        Args:
            namespace: The user's namespace.
            reached: The names that the code reads and writes.
            hidden: Names in the namespace that belong to the shell.
        """
        places = [place for place in reached.names.values() if place[0]]
        return cls(namespace, reachable(namespace, reached, hidden), places, hidden=hidden)

    @classmethod
    def of_runs(
        cls, namespace: MutableMapping[str, Any], runs: Iterable[Run], hidden: frozenset[str]
    ) -> Engine:
        """Return an engine that copies only opaque values and values that runs change.

        Args:
            namespace: The user's namespace.
            runs: The recorded runs.
            hidden: Names in the namespace that belong to the shell.
        """
        names, written = set[str](), set[str]()
        for run in runs:
            reads = run.reads.items()
            names |= {name for name, value in reads if name in run.writes or value.opaque}
            written |= run.writes.keys()
        places = filter(None, map(place_of, names | written))
        return cls(namespace, names, places, hidden=hidden)

    # -- begin -------------------------------------------------------------------------------------

    def freeze(self) -> None:
        """Copy the values that the cell finds, before its own run can change them."""
        self.found = self._copy(self.found)

    def begin(self, instead: Mapping[int, type] | None = None) -> None:
        """Bind names to new copies of ``found``, and restore the process.

        Args:
            instead: Classes that replace other classes in copies, by the ``id`` of the replaced
                class.
        """
        copies = self._copy(self.found, instead)
        _rebind(self.namespace, self.original | copies.names)
        copies.hold()
        self._process.put_back()

    def put(self, found: CapturedState, instead: Mapping[int, type] | None = None) -> None:
        """Bind names to copies of further values. Call it after ``begin``."""
        copies, copier = found.copy(self.limit, instead)
        self.shared |= copier.shared
        self.namespace.update(copies.names)
        copies.hold()

    def bind(self, values: Mapping[str, Any]) -> None:
        """Set variables, and attributes of modules, to values. Call it after ``begin``."""
        for name, value in values.items():
            place = place_of(name) if "." in name else None
            if place is None:
                self.namespace[name] = value
            else:
                put_at(place, value)

    @contextmanager
    def without(self, names: Iterable[str]) -> Iterator[None]:
        """Remove names inside the context; then restore those that were not set in it."""
        taken = {name: self.namespace.pop(name) for name in names if name in self.namespace}
        try:
            yield
        finally:
            for name, value in taken.items():
                self.namespace.setdefault(name, value)

    def _copy(
        self, found: CapturedState, instead: Mapping[int, type] | None = None
    ) -> CapturedState:
        """Copy values, and other variables that refer to them, such as an optimizer."""
        copies, copier = found.copy(self.limit, instead)
        copies.names |= {
            name: copier.named(name, value)
            for name, value in self.original.items()
            if name not in copies.names and not name.startswith("_") and copier.knows(value)
        }
        self.copied |= copies.names.keys()
        self.shared |= copier.shared
        self.cut = copier.cut
        return copies

    # -- capture -----------------------------------------------------------------------------------

    def captured(self) -> CapturedState:
        """Return the values of variables that are new or replace an original."""
        names = named(self.namespace).items()
        ours = [name for name, value in names if self.replaces(name, value)]
        return CapturedState.find(self.namespace, ours, self.places)

    def replaces(self, name: str, value: object) -> bool:
        """Return whether a value is not the object that the name was bound to."""
        return name not in self.original or self.original[name] is not value

    def users(self) -> dict[str, Any]:
        """Return the user's variables."""
        names = named(self.namespace).items()
        return {name: value for name, value in names if is_users(name, self.hidden)}

    def is_new(self, name: str) -> bool:
        """Return whether a run created or rebound a variable, or may have changed it."""
        return name in self.copied or self.replaces(name, self.namespace[name])

    def generators(self) -> list[FoundGenerator]:
        """Return the generators that the user's variables contain now."""
        names = named(self.namespace).items()
        return find_generators({name: value for name, value in names if name not in self.hidden})

    # -- leave -------------------------------------------------------------------------------------

    def keep(self) -> None:
        """Record the state after the cell's own run, which ``leave`` restores.

        In further runs, sources that this run imported start in the state in which it left them.
        """
        self._keep(Process.now())
        found, left = self._process.sources, self._after.sources
        self._process.sources = replace(found, states={**left.states, **found.states})

    def _keep(self, process: Process) -> None:
        self._names = named(self.namespace)
        self._held = self.found.now()
        self._after = process
        self._generators = [(each, each.read()) for each in self.generators()]

    def settle(self) -> None:
        """Accept the new values, until ``leave`` undoes what the cells changed.

        The user may run other cells before that. ``leave`` restores only names that the cells
        changed, so the original values of other names are released.
        """
        now, before = named(self.namespace), self._names
        names = now.keys() | before.keys()
        self.moved = {name for name in names if now.get(name, self) is not before.get(name, self)}
        self._names = {name: before[name] for name in before if name in self.moved}
        self._generators = [each for each in self._generators if each[0].read() != each[1]]
        self.found, self.original = CapturedState(), {}

    def leave(self) -> list[str]:
        """Restore the state before the cells ran, or after the cell's own run.

        Returns:
            The names of variables, attributes, sources and settings that could not be restored.
        """
        with held_interrupts():
            # an error in one part is raised after the others are restored
            with ExitStack() as parts:
                for generator, state in self._generators:
                    parts.callback(generator.write, state)
                parts.callback(self._after.put_back)
                parts.callback(self._held.hold)
                parts.callback(self._bind_again)
            now, wanted = named(self.namespace), self._wanted()
            both = {**wanted, **now}
            unbound = [name for name in both if now.get(name, self) is not wanted.get(name, self)]
            drawn = [each.name for each, state in self._generators if each.read() != state]
            return [*unbound, *self._held.moved(), *self._after.moved(), *drawn]

    def _wanted(self) -> dict[str, Any]:
        """Return the values that names should have."""
        if self.moved is None:
            return self._names
        others = named(self.namespace).items()
        return {name: value for name, value in others if name not in self.moved} | self._names

    def _bind_again(self) -> None:
        """Bind names to the values to restore, in the original order if none was added."""
        wanted = self._wanted()
        _rebind(self.namespace, wanted)
        if self.moved is None and [*named(self.namespace)] != [*wanted]:
            for name in wanted:
                self.namespace[name] = self.namespace.pop(name)


def named(namespace: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the variables of a namespace, without keys that are not strings."""
    return {name: value for name, value in list(namespace.items()) if type(name) is str}


def _rebind(namespace: MutableMapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Rebind the names of a namespace, in the same dictionary: functions refer to it."""
    for name in named(namespace).keys() - wanted.keys():
        del namespace[name]
    for name, value in wanted.items():
        if name not in namespace or namespace[name] is not value:
            namespace[name] = value


def reachable(
    namespace: Mapping[str, Any], reached: Dependencies, hidden: frozenset[str]
) -> list[str]:
    """Return the names whose values a cell may reach; all variables if unknown.

    Names that the cell only assigns are left out, since it does not use their old values.
    """
    if not reached.complete:
        return [name for name in named(namespace) if is_users(name, hidden)]
    return [name for (module, name) in reached.names.values() if not module]


def is_users(name: str, hidden: frozenset[str]) -> bool:
    """Return whether a name in the namespace belongs to the user, not to the shell."""
    return not name.startswith("_") and name not in hidden and name not in ("In", "Out")


# --------------------------------------------------------------------------------------------------
# A function that is run like a cell, by a name in its globals

# The name. It is removed after the last call.
NAME = "_function_that_is_called"

# Names that IPython adds to a namespace. A copy of one of them would be a copy of the whole shell.
SHELLS = frozenset({"exit", "get_ipython", "open", "quit"})


@contextmanager
def called_by_name(function: Callable[..., object]) -> Iterator[dict[str, Any]]:
    """Bind ``NAME`` to a function in its globals, so that its closure is copied too.

    Yields:
        The globals of the function; if it has none, the globals of ``__main__``.
    """
    names: dict[str, Any] = getattr(function, "__globals__", None) or vars(sys.modules["__main__"])
    names[NAME] = function
    try:
        yield names
    finally:
        del names[NAME]
