"""The one engine that runs cells again on copies, and restores everything."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.experiment.captured import CapturedState
from ipytorchseed.experiment.process import Process
from ipytorchseed.ledger.records import Run
from ipytorchseed.reads.dependencies import Dependencies
from ipytorchseed.reads.patches import place_of, put_at
from ipytorchseed.rng.generators import FoundGenerator, find_generators


class Engine:
    """What cells find when they run again, and what was there before.

    ``begin`` puts copies of what the cells may reach in place, ``captured`` returns what they
    made, and ``leave`` restores everything and verifies it.

    Args:
        namespace: The user's.
        names: The names whose values the cells may reach.
        places: Attributes of modules that they may reach, by module and name.
        hidden: Names of the shell's own.
        limit: The most bytes of tensors and arrays to copy at once; None for any.

    Attributes:
        namespace: As given.
        original: The original values, by name.
        found: The values that the next run gets copies of, as ``captured`` returns them.
        copied: The names whose values were copied.
        shared: What could not be copied, by access path, and why.
        limit: As given.
        cut: Tensors that were last copied without the autograd graph behind them.
        brought: Sources that the cell's own run imported, known once it has ended.
        moved: Names that the cells changed, known after ``settle``.
    """

    def __init__(
        self,
        namespace: MutableMapping[str, Any],
        names: Iterable[str],
        places: Iterable[tuple[str, str]] = (),
        *,
        hidden: frozenset[str] = frozenset(),
        limit: int | None = None,
    ) -> None:
        self.namespace = namespace
        self.original = named(namespace)
        self.copied: set[str] = set()
        self.shared: dict[str, str] = {}
        self.cut: list[str] = []
        self.brought: tuple[str, ...] = ()
        self.moved: set[str] | None = None
        self._hidden = hidden
        self.limit = limit
        self._places = [*places]
        self.found = CapturedState.find(namespace, names, self._places)
        self._process = Process.now()
        self._keep(self._process)

    @classmethod
    def of_code(
        cls, namespace: MutableMapping[str, Any], reached: Dependencies, hidden: frozenset[str]
    ) -> Engine:
        """Return an engine for code.

        Args:
            namespace: The user's.
            reached: What the code reads and writes.
            hidden: Names of the shell's own.
        """
        places = [place for place in reached.names.values() if place[0]]
        return cls(namespace, reachable(namespace, reached, hidden), places, hidden=hidden)

    @classmethod
    def of_runs(
        cls, namespace: MutableMapping[str, Any], runs: Iterable[Run], hidden: frozenset[str]
    ) -> Engine:
        """Return an engine for the cells of runs, which copies only what they change."""
        names, written = set[str](), set[str]()
        for run in runs:
            reads = run.reads.items()
            names |= {name for name, value in reads if name in run.writes or value.opaque}
            written |= run.writes.keys()
        places = filter(None, map(place_of, names | written))
        return cls(namespace, names, places, hidden=hidden)

    # -- begin -------------------------------------------------------------------------------------

    def freeze(self) -> None:
        """Copy what the cell finds now, because its own run is about to change it."""
        self.found = self._copy(self.found)

    def begin(self, instead: Mapping[int, type] | None = None) -> None:
        """Put a fresh copy of what the cells may reach in place, and restore the process.

        Args:
            instead: By the identity of a class, the class that replaces it in copies.
        """
        copies = self._copy(self.found, instead)
        _rebind(self.namespace, self.original | copies.names)
        copies.hold()
        self._process.put_back()

    def put(self, found: CapturedState, instead: Mapping[int, type] | None = None) -> None:
        """Put copies of further values in place, after ``begin``."""
        copies, copier = found.copy(self.limit, instead)
        self.shared |= copier.shared
        self.namespace.update(copies.names)
        copies.hold()

    def bind(self, values: Mapping[str, Any]) -> None:
        """Bind names, and attributes of modules, to values, after ``begin``."""
        for name, value in values.items():
            place = place_of(name) if "." in name else None
            if place is None:
                self.namespace[name] = value
            else:
                put_at(place, value)

    @contextmanager
    def without(self, names: Iterable[str]) -> Iterator[None]:
        """Remove names that a run did not find; restore those that it did not set."""
        taken = {name: self.namespace.pop(name) for name in names if name in self.namespace}
        try:
            yield
        finally:
            for name, value in taken.items():
                self.namespace.setdefault(name, value)

    def _copy(
        self, found: CapturedState, instead: Mapping[int, type] | None = None
    ) -> CapturedState:
        """Copy values, and related names: a model with its optimizer."""
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
        """Return the variables that replace the originals, and new ones."""
        names = named(self.namespace).items()
        ours = [name for name, value in names if self.replaces(name, value)]
        return CapturedState.find(self.namespace, ours, self._places)

    def replaces(self, name: str, value: object) -> bool:
        """Return whether a value differs from the original object of a name."""
        return name not in self.original or self.original[name] is not value

    def users(self) -> dict[str, Any]:
        """Return the user's variables."""
        names = named(self.namespace).items()
        return {name: value for name, value in names if is_users(name, self._hidden)}

    def is_new(self, name: str) -> bool:
        """Return whether a run created, rebound, or may have changed a name."""
        return name in self.copied or self.replaces(name, self.namespace[name])

    def generators(self) -> list[FoundGenerator]:
        """Return the generators in the user's variables now."""
        names = named(self.namespace).items()
        return find_generators({name: value for name, value in names if name not in self._hidden})

    # -- leave -------------------------------------------------------------------------------------

    def keep(self) -> None:
        """Record how the cell's own run left everything, for ``leave``.

        Sources that it imported start further runs in the state in which it left them.
        """
        self._keep(Process.now())
        found, left = self._process.sources, self._after.sources
        self.brought = tuple(name for name in left.states if name not in found.states)
        self._process.sources = replace(found, states={**left.states, **found.states})

    def _keep(self, process: Process) -> None:
        self._names = named(self.namespace)
        self._held = self.found.now()
        self._after = process
        self._generators = [(each, each.read()) for each in self.generators()]

    def settle(self) -> None:
        """Keep new values until ``leave``, which undoes only what the cells changed.

        The original values of the other names are no longer kept alive.
        """
        now, before = named(self.namespace), self._names
        names = now.keys() | before.keys()
        self.moved = {name for name in names if now.get(name, self) is not before.get(name, self)}
        self._names = {name: before[name] for name in before if name in self.moved}
        self._generators = [each for each in self._generators if each[0].read() != each[1]]
        self.found, self.original = CapturedState(), {}

    def leave(self) -> list[str]:
        """Restore everything to before, or to the end of the cell's own run.

        Returns:
            The names of what could not be restored.
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
        """Bind names as they were, in the same order unless others were set since."""
        wanted = self._wanted()
        _rebind(self.namespace, wanted)
        if self.moved is None and [*named(self.namespace)] != [*wanted]:
            for name in wanted:
                self.namespace[name] = self.namespace.pop(name)


def named(namespace: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the values of names, without keys of ``globals()`` that are not names."""
    return {name: value for name, value in list(namespace.items()) if type(name) is str}


def _rebind(namespace: MutableMapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Rebind names in the same dictionary, because functions refer to it."""
    for name in named(namespace).keys() - wanted.keys():
        del namespace[name]
    for name, value in wanted.items():
        if name not in namespace or namespace[name] is not value:
            namespace[name] = value


def reachable(
    namespace: Mapping[str, Any], reached: Dependencies, hidden: frozenset[str]
) -> list[str]:
    """Return the names whose values a cell may reach; all of the user's if unknown.

    Names that it only sets are left out, because it does not touch their values.
    """
    if not reached.complete:
        return [name for name in named(namespace) if is_users(name, hidden)]
    return [name for (module, name) in reached.names.values() if not module]


def is_users(name: str, hidden: frozenset[str]) -> bool:
    """Return whether a name of the namespace is the user's, not the shell's."""
    return not name.startswith("_") and name not in hidden and name not in ("In", "Out")


# --------------------------------------------------------------------------------------------------
# A function that is called like a cell: by name, where it looks names up

# The name, which is removed after the last call.
NAME = "_function_that_is_called"

# Names that IPython adds to a namespace; copying one would copy the whole shell.
SHELLS = frozenset({"exit", "get_ipython", "open", "quit"})


@contextmanager
def called_by_name(function: Callable[..., object]) -> Iterator[dict[str, Any]]:
    """Bind ``NAME`` to a function in its globals, so that its closure is copied too.

    Yields:
        These globals; those of ``__main__`` for a callable without globals.
    """
    names: dict[str, Any] = getattr(function, "__globals__", None) or vars(sys.modules["__main__"])
    names[NAME] = function
    try:
        yield names
    finally:
        del names[NAME]
