"""How an object is built, read past any code of its class.

Classes are read through ``type``'s own descriptors, so that no metaclass is asked, and objects
through the slots and the dictionary that their class reserves, so that no property,
``__getattr__`` or ``__getattribute__`` is.
"""

from __future__ import annotations

import weakref
from types import GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")

_of_type = type.__dict__
_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made at run time, as every class written in Python is
_WORD = type.__dict__["__basicsize__"].__get__(object) // 2  # bytes of a pointer


def mro(kind: type) -> tuple[type, ...]:
    """Return the classes that ``kind`` inherits from, itself first."""
    return _of_type["__mro__"].__get__(kind)  # type: ignore[no-any-return]


def own(kind: type) -> Mapping[str, Any]:
    """Return what the class itself defines."""
    return _of_type["__dict__"].__get__(kind)  # type: ignore[no-any-return]


def module_of(kind: type) -> str:
    """Return the module that a class says it is from, or nothing."""
    try:
        module = _of_type["__module__"].__get__(kind)
    except AttributeError:  # deleted by whoever wrote the class
        return ""
    return module if type(module) is str else ""


def name_of(kind: type) -> str:
    """Return a class's name without its module, ``Outer.Inner``."""
    return _of_type["__qualname__"].__get__(kind)  # type: ignore[no-any-return]


def full_name(kind: type) -> str:
    """Return a class's name with its module."""
    return f"{module_of(kind)}.{name_of(kind)}"


class PerType(Generic[T]):
    """What is worked out once for a class, as long as the class lives.

    Kept by identity: a class may have a metaclass with a ``__hash__`` of its own.
    """

    def __init__(self, make: Callable[[type], T]) -> None:
        self._make = make
        self._known: dict[int, tuple[weakref.ref[type], T]] = {}

    def __call__(self, kind: type) -> T:
        """Return what belongs to ``kind``."""
        known = self._known.get(id(kind))
        if known is not None and known[0]() is kind:
            return known[1]
        made = self._make(kind)
        key, forget = id(kind), self._known.pop
        self._known[key] = weakref.ref(kind, lambda _: forget(key, None)), made
        return made


class Anatomy(Struct, frozen=True):
    """What a class reserves in its objects.

    Attributes:
        name: The class's name with its module.
        title: Its last word, for people.
        slots: Name and reader of each slot.
        dictionaries: Readers of the attributes' dictionary; the first that works counts.
        hidden: Whether there is room that only code written in C can see into.
    """

    name: str
    title: str
    slots: tuple[tuple[str, Callable[[Any], Any]], ...]
    dictionaries: tuple[Callable[[Any], Any], ...]
    hidden: bool

    def dictionary(self, value: object) -> dict[Any, Any] | None:
        """Return the attributes' dictionary of ``value`` itself, if it has one."""
        for read in self.dictionaries:
            try:
                found = read(value)
            except (AttributeError, TypeError):  # another class's
                continue
            return found if type(found) is dict else None
        return None

    def attributes(self, value: object) -> list[tuple[str, object]]:
        """Return names and values of an object's own attributes, by name."""
        found = []
        for name, read in self.slots:
            try:
                found.append((name, read(value)))
            except (AttributeError, TypeError):  # a slot never filled, or another class's
                continue
        dictionary = self.dictionary(value)
        if dictionary:
            found += [item for item in [*dictionary.items()] if type(item[0]) is str]
        found.sort(key=_first)
        return found


def _first(item: tuple[str, object]) -> str:
    return item[0]


def _dissect(kind: type) -> Anatomy:
    slots, dictionaries = [], []
    for base in mro(kind):
        for name, entry in [*own(base).items()]:
            if type(name) is not str:
                continue
            if name == "__dict__":
                if type(entry) is GetSetDescriptorType or type(entry) is MemberDescriptorType:
                    dictionaries.append(entry.__get__)
            elif type(entry) is MemberDescriptorType and name != "__weakref__":
                slots.append((name, entry.__get__))
    full, title = full_name(kind), name_of(kind).rpartition(".")[2]
    return Anatomy(full, title, tuple(slots), tuple(dictionaries), _hides(kind))


def _hides(kind: type) -> bool:
    """Tell whether a class or a base of it reserves more room than its slots account for."""
    while kind is not object:
        base = _of_type["__base__"].__get__(kind)
        room = _of_type["__basicsize__"].__get__(kind) - _of_type["__basicsize__"].__get__(base)
        if _of_type["__flags__"].__get__(kind) & _HEAP:
            slots = sum(type(entry) is MemberDescriptorType for entry in [*own(kind).values()])
            if room > _WORD * (slots + 2):  # a dictionary and weak references take one each
                return True
        elif room or _of_type["__itemsize__"].__get__(kind):
            return True
        kind = base
    return False


anatomy: PerType[Anatomy] = PerType(_dissect)
