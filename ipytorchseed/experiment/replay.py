"""Prepares the state for cells that are run again, and restores what was there before."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from msgspec import Struct

from ipytorchseed.determinism.environment import set_variable
from ipytorchseed.determinism.flag import plain
from ipytorchseed.determinism.interrupts import held_interrupts
from ipytorchseed.determinism.libraries import restore_libraries
from ipytorchseed.determinism.table import FLAGS, read_flags, restore_flags
from ipytorchseed.experiment.imports import import_sources
from ipytorchseed.experiment.process import Process
from ipytorchseed.experiment.rewind import put_back, rewind
from ipytorchseed.experiment.sandbox import CapturedState, aliases, named
from ipytorchseed.ledger.records import Run
from ipytorchseed.ledger.store import Ledger
from ipytorchseed.reads.patches import place_of
from ipytorchseed.rng.generators import Found
from ipytorchseed.rng.torch_random import has_torch
from ipytorchseed.why.finders.files import FOLDER
from ipytorchseed.why.plan import Step

_GONE = object()


def _put_flags_back(settings: Mapping[str, Any]) -> None:
    """Set the flags as a run found them; those that nobody can set any more stay."""
    if has_torch():
        now = read_flags()
        then = {
            name: _from_plain(settings[name])
            for name, value in now.items()
            if not name.isupper() and name in settings and plain(value) != settings[name]
        }
        if then:
            restore_flags({**now, **then})


def _put_environment_back(run: Run) -> None:
    """Set the environment variables that a cell reads to their values at its run."""
    begun = {flag.name for flag in FLAGS}  # read by libraries when they start
    words = {*re.findall(r"\w+", run.source)}
    named = {name for name in os.environ if name in words and name.isupper()}
    asked = {name for name in run.settings if name.isupper()}
    for name in {*(named if words & {"environ", "getenv"} else ()), *asked} - begun:
        value = run.settings.get(name)
        set_variable(name, None if value is None else str(value))


def _from_plain(value: Any) -> Any:
    """Return a flag's value as torch has it, from how it is kept."""
    if type(value) is str and value.startswith("torch."):
        return getattr(sys.modules["torch"], value.removeprefix("torch."), value)
    return tuple(value) if type(value) is list else value


class Scene(Struct, frozen=True):
    """What stands in this process for the cells to find.

    Attributes:
        namespace: The user's names.
        ledger: Where states are kept.
        generators: Finds the generators of the namespace.
    """

    namespace: MutableMapping[str, Any]
    ledger: Ledger
    generators: Callable[[], list[Found]]

    def put_back(self, step: Step, name: str) -> None:
        """Put sources, generators, settings and the working folder back to what a run found.

        Args:
            step: The run.
            name: How it is called, for the error.

        Raises:
            StateError: The states are no longer kept, or one does not fit; nothing moved.
        """
        import_sources(step.run.packages)
        _put_environment_back(step.run)
        _put_flags_back(step.settings)
        restore_libraries(step.settings)
        with suppress(OSError):  # the folder is gone, or was
            os.chdir(str(step.settings.get(FOLDER, "")))
        rewind(self.ledger, step.run, self.generators(), name, after=False)

    @contextmanager
    def without(self, names: Iterable[str]) -> Iterator[None]:
        """Take names away that a run did not find; afterwards those are back that it did not set.

        Args:
            names: The names.
        """
        taken = {name: self.namespace.pop(name) for name in names if name in self.namespace}
        try:
            yield
        finally:
            for name, value in taken.items():
                self.namespace.setdefault(name, value)


class Before:
    """The state before cells were run again, to be restored.

    What the cells change of the values that they find is changed in copies: the objects themselves
    are kept as they are.

    Args:
        scene: What they find.
        runs: The runs whose cells they are.

    Attributes:
        shared: What could not be copied, by how one reaches it: what happens to it stays.
    """

    def __init__(self, scene: Scene, runs: Iterable[Run]) -> None:
        runs = [*runs]
        self._scene = scene
        self._process = Process.now()
        self._generators = {each.name: each.read() for each in scene.generators()}
        self._bindings = named(scene.namespace)
        self._moved: list[str] | None = None
        touched = {
            name
            for run in runs
            for name, value in run.reads.items()
            if name in run.writes or value.opaque
        }
        written = [place_of(name) for run in runs for name in {*touched, *run.writes}]
        self._held = CapturedState.find(scene.namespace, touched, filter(None, written))
        copies, copier = self._held.copy()
        copies.names |= aliases(scene.namespace, copies.names, copier)
        self.shared: Sequence[str] = tuple(copier.shared)
        scene.namespace.update(copies.names)
        copies.hold()

    def done(self) -> None:
        """Note which names the cells left otherwise: later changes of others are not undone.

        What the other names were bound to is not kept alive from now on.
        """
        self._moved = self._find_moved()
        self._bindings = {
            name: self._bindings[name] for name in self._moved if name in self._bindings
        }

    def _find_moved(self) -> list[str]:
        bound, before = named(self._scene.namespace), self._bindings
        names = bound.keys() | before.keys()
        return [name for name in names if bound.get(name, _GONE) is not before.get(name, _GONE)]

    def put_back(self) -> tuple[list[str], list[str]]:
        """Put names, sources, generators and settings back; names set since ``done`` stay.

        Returns:
            The names that were put back, and what is not as before all the same.
        """
        names = self._scene.namespace
        with held_interrupts():
            moved = self._find_moved() if self._moved is None else self._moved
            with ExitStack() as parts:
                parts.callback(self._put_generators_back)
                parts.callback(self._process.put_back)
                parts.callback(self._held.hold)
                for name in moved:
                    if name in self._bindings:
                        names[name] = self._bindings[name]
                    else:
                        names.pop(name, None)
            unbound = [n for n in moved if names.get(n, _GONE) is not self._bindings.get(n, _GONE)]
            now = {each.name: each.read() for each in self._scene.generators()}
            drawn = [n for n, state in self._generators.items() if now.get(n) != state]
            stays = [*unbound, *self._held.moved(), *self._process.moved(), *drawn]
        return sorted(name for name in moved if not name.startswith("_")), stays

    def _put_generators_back(self) -> None:
        with suppress(ValueError):  # the name now has a generator of a different type
            put_back(self._generators, self._scene.generators())
