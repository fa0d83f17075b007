"""Slots and attributes of objects, read without running code of their classes.

Classes are read through ``type``'s own descriptors, so no metaclass is asked. Objects are read
through their slots and dictionary, so no property, ``__getattr__`` or ``__getattribute__`` runs.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any, TypeVar

from msgspec import Struct

K = TypeVar("K")
T = TypeVar("T")

_MANY = 2000  # an object with more attributes is a table

_MISSING: Any = object()
_of_type = type.__dict__
_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: created at run time, like every class written in Python
_WORD = type.__dict__["__basicsize__"].__get__(object) // 2  # bytes of a pointer


def mro(kind: type) -> tuple[type, ...]:
    """Return the classes that ``kind`` inherits from, itself first."""
    return _of_type["__mro__"].__get__(kind)  # type: ignore[no-any-return]


def own(kind: type) -> Mapping[str, Any]:
    """Return what the class itself defines."""
    return _of_type["__dict__"].__get__(kind)  # type: ignore[no-any-return]


def find_member(kind: type, name: str, otherwise: Any = None) -> Any:
    """Return what a class or its bases define under a name, without running code."""
    return next((own(each)[name] for each in mro(kind) if name in own(each)), otherwise)


def module_of_class(kind: type) -> str:
    """Return the module that a class names, or an empty string."""
    try:
        module = _of_type["__module__"].__get__(kind)
    except AttributeError:  # deleted by the author of the class
        return ""
    return module if type(module) is str else ""


def name_of_class(kind: type) -> str:
    """Return a class's name without its module, ``Outer.Inner``."""
    return _of_type["__qualname__"].__get__(kind)  # type: ignore[no-any-return]


def full_name(kind: type) -> str:
    """Return a class's name with its module."""
    return f"{module_of_class(kind)}.{name_of_class(kind)}"


def per_object(make: Callable[[K], T]) -> Callable[[K], T]:
    """Cache the result of a function for each class or code object while it lives.

    The cache compares identities, because a metaclass may define ``__hash__``.

    Args:
        make: Computes the result, which must not keep the object alive.
    """
    known: dict[int, tuple[weakref.ref[K], T]] = {}

    def get(of: K) -> T:
        found = known.get(id(of))
        if found is not None and found[0]() is of:
            return found[1]
        made = make(of)
        key, forget = id(of), known.pop
        known[key] = weakref.ref(of, lambda _: forget(key, None)), made
        return made

    return get


# The largest number that cannot be an address.
_SMALL = 2**32 - 1


class Anatomy(Struct, frozen=True):
    """The slots and dictionaries of a class's objects. The class is not kept alive.

    Attributes:
        kind: The class.
        name: The class's name with its module.
        title: The last part of it, for display.
        slots: Each slot's name, and the position of the defining class among the bases.
        dictionaries: The positions of the classes that define ``__dict__`` among the bases; the
            first that can be read counts.
        hidden: Whether objects have memory that only C code can read.
    """

    kind: weakref.ref[type]
    name: str
    title: str
    slots: tuple[tuple[str, int], ...]
    dictionaries: tuple[int, ...]
    hidden: bool

    def dictionary(self, value: object) -> dict[Any, Any] | None:
        """Return the attributes' dictionary of ``value`` itself, if it has one."""
        for at in self.dictionaries:
            found = self._read(value, "__dict__", at)
            if found is not _MISSING:
                return found if type(found) is dict else None
        return None

    def slot_values(self, value: object) -> Iterator[tuple[str, object]]:
        """Return name and value of each slot that is filled."""
        for name, at in self.slots:
            found = self._read(value, name, at)
            if found is not _MISSING and not (
                self.hidden and self._may_be_address(value, found, at)
            ):
                yield name, found

    def _may_be_address(self, value: object, found: object, at: int) -> bool:
        """Return whether a slot's value may be a pointer of a C class, not a small number."""
        return (
            type(found) is int and found > _SMALL and "__slots__" not in own(mro(type(value))[at])
        )

    def attributes(self, value: object) -> list[tuple[str, object]]:
        """Return names and values of an object's own attributes, by name."""
        found = self.unsorted(value)
        found.sort(key=itemgetter(0))
        return found

    def unsorted(self, value: object) -> list[tuple[str, object]]:
        """Return names and values of an object's attributes, in the order of creation.

        If there are too many to copy, their dictionary is returned instead.
        """
        found = [*self.slot_values(value)] if self.slots else []
        dictionary = self.dictionary(value)
        if not dictionary:
            return found
        if len(dictionary) > _MANY:
            return [*found, ("__dict__", dictionary)]
        return found + [item for item in [*dictionary.items()] if type(item[0]) is str]

    def _read(self, value: object, name: str, at: int) -> Any:
        kind = self.kind()
        bases = mro(type(value) if kind is None else kind)
        slot: Any = own(bases[at]).get(name) if at < len(bases) else None
        if not _is_descriptor(slot):  # replaced since
            return _MISSING
        try:
            return slot.__get__(value)
        except (AttributeError, TypeError):  # never filled, or another class's
            return _MISSING


# Members of classes other than content: locations, texts and caches.
NOT_CONTENT = frozenset({
    "__abstractmethods__", "__annotate__", "__annotate_func__", "__annotations__",
    "__annotations_cache__", "__dict__", "__doc__", "__firstlineno__", "__module__",
    "__qualname__", "__slotnames__", "__static_attributes__", "__weakref__", "_abc_impl",
    # of enum.Flag: combinations of members, created when they are first used
    "_value2member_map_",
    # of pydantic: what it compiles from the fields, with addresses, and caches
    "__pydantic_complete__", "__pydantic_core_schema__", "__pydantic_parent_namespace__",
    "__pydantic_serializer__", "__pydantic_setattr_handlers__", "__pydantic_validator__",
    "__signature__",
})  # fmt: skip

# Members that hold addresses in a C class.
_ADDRESSES = frozenset({
    "__weakref__", "__weaklistoffset__", "__dictoffset__", "__vectorcalloffset__",
})  # fmt: skip


def _dissect(kind: type) -> Anatomy:
    slots, dictionaries = [], []
    for at, base in enumerate(mro(kind)):
        for name, entry in [*own(base).items()]:
            if type(name) is not str:
                continue
            if name == "__dict__":
                if _is_descriptor(entry):
                    dictionaries.append(at)
            elif type(entry) is MemberDescriptorType and name not in _ADDRESSES:
                slots.append((name, at))
    full, title = full_name(kind), name_of_class(kind).rpartition(".")[2]
    return Anatomy(
        weakref.ref(kind), full, title, tuple(slots), tuple(dictionaries), _has_hidden_memory(kind)
    )


def _is_descriptor(entry: object) -> bool:
    return type(entry) is MemberDescriptorType or type(entry) is GetSetDescriptorType


def _has_hidden_memory(kind: type) -> bool:
    """Return whether a class reserves more memory than its slots need."""
    while kind is not object:
        base = _of_type["__base__"].__get__(kind)
        room = _of_type["__basicsize__"].__get__(kind) - _of_type["__basicsize__"].__get__(base)
        if _of_type["__flags__"].__get__(kind) & _HEAP:
            slots = sum(type(entry) is MemberDescriptorType for entry in [*own(kind).values()])
            added = sum(
                bool(_of_type[each].__get__(kind)) and not _of_type[each].__get__(base)
                for each in ("__dictoffset__", "__weakrefoffset__")  # which take a word each
            )
            if room > _WORD * (slots + added):
                return True
        elif room or _of_type["__itemsize__"].__get__(kind):
            return True
        kind = base
    return False


# Returns how objects of a class are built.
anatomy = per_object(_dissect)


def dictionary_of(value: object) -> dict[Any, Any]:
    """Return the attributes' dictionary of a value itself, or an empty one."""
    return anatomy(type(value)).dictionary(value) or {}


def attributes(value: object) -> list[tuple[str, object]]:
    """Return names and values of an object's attributes, in the order of creation."""
    return anatomy(type(value)).unsorted(value)
