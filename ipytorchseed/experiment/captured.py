"""Captures, copies and restores the values of variables and attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ipytorchseed.determinism.interrupts import let_through
from ipytorchseed.experiment.copier import Copier
from ipytorchseed.introspection.anatomy import NOT_CONTENT, find_member, own
from ipytorchseed.introspection.ownership import is_local_module
from ipytorchseed.reads.patches import Place, find_at, put_at


class Held(Struct):
    """An attribute of a module or class, with its value.

    Attributes:
        name: The access path: ``conf.RATE``, ``Config.calls``.
        owner: The class, if it is the user's own; else None.
        find: Returns the attribute's current value; raises KeyError if there is none.
        put: Sets the attribute.
        value: The value that was found, or a copy of it.
    """

    name: str
    owner: Any
    find: Callable[[], Any]
    put: Callable[[Any], object]
    value: Any = None

    def now(self) -> Held:
        """Return the same attribute with its current value, or with None if it is gone."""
        with suppress(KeyError):
            return replace(self, value=self.find())
        return replace(self, value=None)


class CapturedState(Struct):
    """The values of variables, and of attributes of modules and classes.

    Attributes:
        names: The values of variables, by name.
        others: Attributes of modules, of packages' classes, and of the user's classes.
    """

    names: dict[str, Any] = {}
    others: list[Held] = []

    @classmethod
    def find(
        cls, namespace: Mapping[str, Any], names: Iterable[str], places: Iterable[Place] = ()
    ) -> CapturedState:
        """Find the values of variables and attributes.

        Data attributes of all of the user's classes in the namespace are included.

        Args:
            namespace: The user's namespace.
            names: The variables to find. Missing ones are skipped.
            places: The attributes of modules to find, by module and name.
        """
        others = []
        for place in places:
            with suppress(KeyError):
                find, put = partial(find_at, place), partial(put_at, place)
                others.append(Held(".".join(place), None, find, put, find()))
        for kind in _classes(namespace):
            for name, value in list(own(kind).items()):
                if name not in NOT_CONTENT and _is_data(value):
                    find = partial(own(kind).__getitem__, name)
                    put = partial(type.__setattr__, kind, name)  # without the user's metaclass
                    made = type.__dict__["__name__"].__get__(kind)
                    others.append(Held(f"{made}.{name}", kind, find, put, value))
        return cls({name: namespace[name] for name in names if name in namespace}, others)

    def get(self, name: str, otherwise: Any = None) -> Any:
        """Return the value of a variable, or of an attribute by its dotted name."""
        others = {each.name: each.value for each in self.others}
        return self.names.get(name, others.get(name, otherwise))

    def now(self) -> CapturedState:
        """Return the current values of the same attributes, without variables."""
        return CapturedState({}, [each.now() for each in self.others])

    def hold(self) -> None:
        """Set the attributes of modules and classes to the captured values."""
        for each in self.others:
            # the module is gone, or the class refuses attributes
            with suppress(KeyError, TypeError):
                each.put(each.value)

    def moved(self) -> list[str]:
        """Return the names of attributes that no longer have the captured values."""
        return [each.name for each in self.others if each.now().value is not each.value]

    def copy(
        self, limit: int | None = None, instead: Mapping[int, type] | None = None
    ) -> tuple[CapturedState, Copier]:
        """Copy all values, each object once. An interrupt ends the copying.

        Args:
            limit: The maximum number of bytes of tensors and arrays to copy; None for no limit.
            instead: Classes that replace other classes in copies, by the ``id`` of the replaced
                class.
        """
        return let_through(partial(self._copy, Copier(limit, instead)), once=True)

    def _copy(self, copier: Copier) -> tuple[CapturedState, Copier]:
        names = copier.copy_all(self.names)
        others = [replace(each, value=copier.named(each.name, each.value)) for each in self.others]
        return CapturedState(names, others), copier


def _classes(namespace: Mapping[str, Any]) -> list[type]:
    """Return the user's own classes in the namespace."""
    return [
        value
        for value in list(namespace.values())
        if issubclass(type(value), type) and is_local_module(own(value).get("__module__"))
    ]


def _is_data(value: object) -> bool:
    """Return whether an attribute of a class is data, not code."""
    kind = type(value)
    return not issubclass(kind, (type, ModuleType)) and find_member(kind, "__get__") is None
