"""The sandbox in which a cell runs again: captured state, restored before each run and after it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, MutableMapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from msgspec import Struct

from ipytorchseed.determinism.interrupts import held_interrupts, let_through
from ipytorchseed.experiment.copier import Copier
from ipytorchseed.experiment.process import Process
from ipytorchseed.introspection.anatomy import NOT_CONTENT, find_member, own
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.reads.patches import find_at, put_at


class CapturedState(Struct):
    """Values by where they are held.

    Attributes:
        names: Of the namespace.
        modules: Of modules, and of classes of packages, by module and name.
        classes: Attributes of the user's classes, with class and name: a class may have no hash.
    """

    names: dict[str, Any] = {}
    modules: dict[tuple[str, str], Any] = {}
    classes: list[tuple[type, str, Any]] = []

    @classmethod
    def find(
        cls,
        namespace: Mapping[str, Any],
        names: Iterable[str],
        places: Iterable[tuple[str, str]] = (),
    ) -> CapturedState:
        """Find values by name, by module and name, and those that the user's classes hold."""
        held = cls({name: namespace[name] for name in names if name in namespace})
        for place in places:
            with suppress(KeyError):
                held.modules[place] = find_at(place)
        for holder in _classes(namespace):
            for name, value in list(own(holder).items()):
                if name not in NOT_CONTENT and _is_data(value):
                    held.classes.append((holder, name, value))
        return held

    def hold(self) -> None:
        """Put what modules and classes hold in its place."""
        for place, value in self.modules.items():
            with suppress(KeyError, TypeError):  # its module is gone, or its class takes nothing
                put_at(place, value)
        for holder, name, value in self.classes:
            type.__setattr__(holder, name, value)

    def moved(self) -> list[str]:
        """Name what modules and classes hold that is not in its place."""
        places = [
            ".".join(place)
            for place, value in self.modules.items()
            if _value_at(place) is not value
        ]
        return places + [
            f"{_class_name(holder)}.{name}"
            for holder, name, value in self.classes
            if own(holder).get(name) is not value
        ]

    def copy(self, limit: int | None = None) -> tuple[CapturedState, Copier]:
        """Copy all of it, each object once; an interrupt may end it.

        Args:
            limit: The most bytes of tensors and arrays to copy; None for any.
        """
        return let_through(partial(self._copy, limit), once=True)

    def _copy(self, limit: int | None) -> tuple[CapturedState, Copier]:
        copier = Copier(limit)
        names = copier.copy_all(self.names)
        modules = {
            place: copier.named(".".join(place), value) for place, value in self.modules.items()
        }
        classes = [
            (holder, name, copier.named(f"{_class_name(holder)}.{name}", value))
            for holder, name, value in self.classes
        ]
        return CapturedState(names, modules, classes), copier


class Sandbox:
    """The state in which a cell begins, as copies.

    Args:
        namespace: The user's.
        names: Those of its names whose values the cell may reach.
        places: Attributes of local modules that it may reach, by module and name.
        limit: The most bytes of tensors and arrays to copy; None for any.

    Attributes:
        shared: What could not be copied, by how one reaches it, and why.
        cut: Tensors that were last copied without the autograd graph behind them.
        original: What names were bound to at first, by name.
        brought: Sources that are there only since the cell's own run, known once it has ended.
    """

    def __init__(
        self,
        namespace: MutableMapping[str, Any],
        names: Iterable[str],
        places: Iterable[tuple[str, str]] = (),
        limit: int | None = None,
    ) -> None:
        self._namespace = namespace
        self.original = named(namespace)
        self._process = Process.now()
        self._held, copier = CapturedState.find(namespace, names, places).copy(limit)
        self._held.names |= aliases(namespace, self._held.names, copier)
        self.names = {*self._held.names}
        self.shared = copier.shared
        self.cut = copier.cut
        self._after: tuple[dict[str, Any], CapturedState, Process] | None = None
        self.brought: tuple[str, ...] = ()

    def is_new(self, name: str) -> bool:
        """Tell whether a name was made, bound anew, or may have been changed by a run."""
        bound = self.original.get(name, self)
        return name in self.names or bound is self or self._namespace[name] is not bound

    def leave(self) -> None:
        """Keep how the cell's own run left everything, for ``put_back``.

        Sources that it brought begin the further runs where it left them.
        """
        held = CapturedState(
            modules={place: _value_at(place) for place in self._held.modules},
            classes=[
                (holder, name, own(holder).get(name)) for holder, name, _ in self._held.classes
            ],
        )
        process = Process.now()
        self._after = named(self._namespace), held, process
        found, left = self._process.sources, process.sources
        self.brought = tuple(name for name in left.states if name not in found.states)
        self._process.sources = replace(found, states={**left.states, **found.states})

    def found(self) -> CapturedState:
        """Capture the variables that now replace the originals, and those that were made since."""
        names = named(self._namespace).items()
        ours = [name for name, value in names if value is not self.original.get(name, self)]
        return CapturedState.find(self._namespace, ours, self._held.modules)

    def begin_with(self, held: CapturedState) -> None:
        """Have further runs find copies of what ``found`` returned."""
        self._held = held

    def enter(self) -> None:
        """Restore the state in which the cell began, with a fresh copy of what it may reach."""
        copies, copier = self._held.copy()
        self.shared |= copier.shared
        self.cut = copier.cut
        _rebind(self._namespace, self.original | copies.names)
        copies.hold()
        self._process.put_back()

    def put_back(self) -> list[str]:
        """Put everything back as the cell's own run left it.

        Returns:
            The names of what is not as before all the same.
        """
        if self._after is None:
            return []
        names, held, process = self._after
        with held_interrupts():
            with ExitStack() as parts:
                parts.callback(process.put_back)
                parts.callback(held.hold)
                parts.callback(self._rebind, names)
            now = named(self._namespace)
            both = {**names, **now}
            unbound = [name for name in both if now.get(name, self) is not names.get(name, self)]
            return [*unbound, *held.moved(), *process.moved()]

    def _rebind(self, names: Mapping[str, Any]) -> None:
        """Bind names as they were, in the same order."""
        _rebind(self._namespace, names)
        if [*named(self._namespace)] != [*names]:
            for name in names:
                self._namespace[name] = self._namespace.pop(name)


def aliases(namespace: Mapping[str, Any], names: Container[str], copier: Copier) -> dict[str, Any]:
    """Copy a namespace's other names for what was copied: a model behind its optimizer.

    Args:
        namespace: The user's.
        names: What was copied by name.
        copier: What copied it.
    """
    return {
        name: copier.named(name, value)
        for name, value in named(namespace).items()
        if name not in names and not name.startswith("_") and copier.knows(value)
    }


def _value_at(place: tuple[str, str]) -> Any:
    with suppress(KeyError):
        return find_at(place)
    return None


def named(namespace: Mapping[Any, Any]) -> dict[str, Any]:
    """Return what names are bound to; keys of ``globals()`` that are no names are left alone."""
    return {name: value for name, value in list(namespace.items()) if type(name) is str}


def _rebind(namespace: MutableMapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Bind names as wanted; the dictionary stays, as functions look into it."""
    for name in named(namespace).keys() - wanted.keys():
        del namespace[name]
    for name, value in wanted.items():
        if name not in namespace or namespace[name] is not value:
            namespace[name] = value


def _classes(namespace: Mapping[str, Any]) -> list[type]:
    """List the user's own classes that the namespace names."""
    return [
        value
        for value in list(namespace.values())
        if issubclass(type(value), type) and _is_users(own(value).get("__module__"))
    ]


def _is_users(module: object) -> bool:
    return type(module) is str and (module == "__main__" or is_local_module(module))


def _class_name(kind: type) -> str:
    return str(type.__dict__["__name__"].__get__(kind))


def _is_data(value: object) -> bool:
    """Tell whether an attribute of a class holds data, rather than code."""
    code = (FunctionType, ModuleType, type, staticmethod, classmethod, property)
    kind = type(value)
    return not issubclass(kind, code) and find_member(kind, "__get__") is None
